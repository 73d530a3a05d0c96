"""The settings of search."""

from pydantic import Field, SecretStr

from penstock.kernel.settings import Section


class SearchSettings(Section):
    """Where products are searched, and how long answers are kept."""

    url: SecretStr = Field(
        SecretStr(""),
        description="of Elasticsearch or OpenSearch, as https://name:password@host:9200; "
        "empty: the store's own search",
    )
    api_key: SecretStr = Field(
        SecretStr(""), description="for Elasticsearch, instead of a name and a password"
    )
    index: str = Field(
        "products",
        pattern=r"^[a-z][a-z0-9_]{0,99}$",
        description="the name that it is found under; the indexes behind it begin with it",
    )
    timeout_seconds: float = Field(30, gt=0, description="of one request")
    query_cache_seconds: float = Field(
        10, ge=0, description="an answer is given again for so long; 0: never"
    )
    query_cache_entries: int = Field(1_000, ge=1)
