"""Where Penstock keeps what must survive."""

from pathlib import Path

from pydantic import Field, SecretStr

from penstock.kernel.settings import Section

FILE_NAME = "penstock.db"


class StoreSettings(Section):
    """The database, and the folder of everything that is embedded."""

    folder: Path = Field(Path("penstock-data"), description="database, blobs and keys of this host")
    url: SecretStr = Field(
        SecretStr(""), description="postgresql://user:password@host/name; empty: SQLite in folder"
    )
    pgbouncer: bool = Field(
        False, description="whether the URL is that of a pgbouncer in transaction mode"
    )
    pool_size: int = Field(10, ge=2, description="connections to PostgreSQL")
    pool_seconds: float = Field(30, gt=0, description="until a free connection is given up")
    ride_out_seconds: float = Field(
        60, gt=0, description="how long a lost server or a full disk is waited for"
    )
    busy_seconds: float = Field(10, gt=0, description="wait for another process that writes")
    max_queued_writes: int = Field(10_000, ge=1)

    @property
    def exists(self) -> bool:
        """Whether there is a store; an embedded one is made when it is first needed."""
        return self.is_shared or (self.folder / FILE_NAME).exists()

    @property
    def keys(self) -> Path:
        """The folder of secrets that were generated here."""
        return self.folder / "keys"

    @property
    def is_shared(self) -> bool:
        """Whether processes on other machines may use the same store."""
        return bool(self.url.get_secret_value())
