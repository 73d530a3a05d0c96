"""The settings of the API."""

from pydantic import Field, SecretStr

from penstock.kernel.settings import Section


class ApiSettings(Section):
    """Where the API listens, who may call it, and how much it takes at once."""

    enabled: bool = Field(True, description="whether `penstock up` serves the API")
    host: str = "127.0.0.1"
    port: int = Field(8001, ge=0, le=65535, description="0 takes any free one")
    service_key: SecretStr = Field(
        SecretStr(""), description="a key for everything; empty: one is made and printed once"
    )
    service_rate_limit: int | None = Field(
        None, ge=1, description="requests a minute with the service key"
    )
    keys_seconds: float = Field(5, ge=0, description="until a changed key is noticed")
    max_body_bytes: int = Field(1024 * 1024, ge=1024)
    max_json_depth: int = Field(20, ge=4)
    retry_after_seconds: int = Field(5, ge=1, description="told to who is turned away")
    drain_seconds: float = Field(5, ge=0, description="for open connections at a shutdown")
