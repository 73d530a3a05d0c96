"""The settings of the blobs say where, and keep their secrets."""

import pytest
from pydantic import ValidationError

from penstock.blobs.settings import BlobSettings


@pytest.mark.parametrize(
    ("url", "bucket", "prefix"),
    [
        ("", "", ""),
        ("s3://pages", "pages", ""),
        ("s3://pages/", "pages", ""),
        ("s3://pages/raw/html/", "pages", "raw/html"),
    ],
)
def test_url_names_a_bucket_and_a_prefix(url: str, bucket: str, prefix: str) -> None:
    settings = BlobSettings(url=url)

    assert (settings.bucket, settings.prefix) == (bucket, prefix)


@pytest.mark.parametrize("url", ["s3://", "s3:///raw", "http://pages", "/var/blobs", "s3://Pa ges"])
def test_url_that_names_no_bucket_is_refused(url: str) -> None:
    with pytest.raises(ValidationError):
        BlobSettings(url=url)


@pytest.mark.parametrize("endpoint", ["minio:9000", "ftp://minio", "http://user:word@minio:9000"])
def test_endpoint_that_is_no_plain_address_is_refused(endpoint: str) -> None:
    with pytest.raises(ValidationError):
        BlobSettings(endpoint=endpoint)


def test_secrets_do_not_show() -> None:
    settings = BlobSettings(access_key="hidden", secret_key="hidden")

    assert "hidden" not in f"{settings!r} {settings} {settings.model_dump_json()}"
