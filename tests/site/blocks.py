"""blocked.test and lazy.test: pages that show no product although they answer."""

import json

from tests.site.answers import Answer, Hit, Plan, Reply
from tests.site.pages import html, not_found
from tests.site.shops import PRODUCT_NUMBERS, product, product_page

CAPTCHA = html(
    "Are you a human?",
    "<p>Our systems have detected unusual traffic. Enter the characters you see below.</p>\n"
    '<form id="captcha-form" action="/validateCaptcha" method="post">\n'
    '<div class="g-recaptcha" data-sitekey="site-key"></div>\n'
    "<button>Continue shopping</button></form>",
)

CLOUDFLARE = html(
    "Just a moment...",
    "<p>Checking your browser before accessing blocked.test.</p>\n"
    '<div id="challenge-running"></div>'
    '<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"></script>',
)

DENIED = html(
    "Access Denied",
    "<p>You don't have permission to access this page on this server.</p>\n"
    "<p>Reference #18.2d351ab8.1557333295.a4e16ab</p>",
)

SHELL = """\
<!doctype html>
<html><head><title>Shop</title><link rel="stylesheet" href="/app.css"></head>
<body><noscript>You need to enable JavaScript to run this app.</noscript>
<div id="root"></div><script src="/app.js"></script></body></html>
"""

REVIEW_FORM = """\
<form class="review" action="/review" method="post">
<textarea name="text"></textarea>
<div class="g-recaptcha" data-sitekey="site-key"></div>
<script src="https://www.google.com/recaptcha/api.js" async defer></script>
<button>Send review</button></form>
</body>"""

LAZY = """\
<!doctype html>
<html lang="en"><head><title>Lazy shop</title></head>
<body><main id="product"><p class="loading">Loading</p></main>
<script>
fetch("/offer/" + location.pathname.split("/").pop())
  .then((reply) => reply.json())
  .then((offer) => {
    const main = document.getElementById("product");
    main.replaceChildren();
    for (const name of ["title", "price", "stock"]) {
      const element = document.createElement("p");
      element.className = name;
      element.textContent = offer[name];
      main.append(element);
    }
  });
</script></body></html>
"""


def denied(hit: Hit) -> Reply:
    return Reply(int(hit.number("status", 200)), DENIED)


def legitimate(hit: Hit) -> Reply:
    """A product page that merely has a reCAPTCHA in its review form: not a block."""
    return Reply(200, product_page("shop01.test", 1).replace("</body>", REVIEW_FORM))


def offer(hit: Hit) -> Answer:
    if hit.last_segment not in map(str, PRODUCT_NUMBERS):
        return not_found(hit)
    item = product("shop01.test", int(hit.last_segment))
    seen = {"title": item.title, "price": item.price_text, "stock": item.availability}
    return Reply(200, json.dumps(seen), {"Content-Type": "application/json"})


BLOCKED: dict[str, Plan] = {
    "/captcha": Reply(200, CAPTCHA),
    "/cloudflare": Reply(403, CLOUDFLARE, {"Server": "cloudflare", "cf-mitigated": "challenge"}),
    "/denied": denied,
    "/shell": Reply(200, SHELL),
    "/app.js": Reply(200, "/* nothing */", {"Content-Type": "text/javascript"}),
    "/legit-recaptcha": legitimate,
}

LAZY_PAGES: dict[str, Plan] = {
    "/product/*": Reply(200, LAZY),
    "/offer/*": offer,
}
