"""The settings of the blobs."""

from pydantic import Field, SecretStr

from penstock.kernel.settings import Section


class BlobSettings(Section):
    """Where pages and images are kept, and for how long."""

    url: str = Field(
        "",
        pattern=r"^(s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/.*)?)?$",
        description="s3://bucket/prefix; empty: the folder blobs in the data folder",
    )
    endpoint: str = Field(
        "",
        pattern=r"^(https?://[^\s@]+)?$",
        description="the address of a server that speaks S3; empty: Amazon's",
    )
    access_key: SecretStr = Field(
        SecretStr(""), description="empty: what the machine offers, such as an instance role"
    )
    secret_key: SecretStr = SecretStr("")
    region: str = "us-east-1"
    timeout_seconds: float = Field(30, gt=0, description="of one request; later, none is repeated")
    max_retries: int = Field(3, ge=0)
    retention_days: float = Field(30, gt=0, description="until a blob nobody needs is deleted")

    @property
    def bucket(self) -> str:
        """The bucket's name; empty if blobs are local."""
        return self.url.removeprefix("s3://").partition("/")[0]

    @property
    def prefix(self) -> str:
        """What stands before every key in the bucket."""
        return self.url.removeprefix("s3://").partition("/")[2].strip("/")
