"""What schemathesis has to know: URLs of hosts that there are."""

import schemathesis
from hypothesis import strategies as st

HOSTS = ("shop01.test", "shop02.test", "private.test", "blocked.test")

#: Sources that the test adds, one for each domain.
SOURCES = {"Shop 1": "shop01.test", "Shop 2": "shop02.test"}
WORDS = {
    "adapter": ("product", "sgammo"),
    "source": tuple(SOURCES),
    "domain": tuple(SOURCES.values()),
    "schedule": ("6h", "1d", "0 6 * * *"),
    "header-name": ("Accept-Language", "X-Shop"),
    "header-value": ("en", "de"),
}

for name, words in WORDS.items():
    schemathesis.openapi.format(name, st.sampled_from(words))
schemathesis.openapi.format(
    "uri",
    st.builds("http://{}/product/{}".format, st.sampled_from(HOSTS), st.integers(1, 20)),
)
