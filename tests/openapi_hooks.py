"""What schemathesis has to know: URLs of hosts that there are."""

import schemathesis
from hypothesis import strategies as st

HOSTS = ("shop01.test", "shop02.test", "private.test", "blocked.test")

schemathesis.openapi.format(
    "uri",
    st.builds("http://{}/product/{}".format, st.sampled_from(HOSTS), st.integers(1, 20)),
)
