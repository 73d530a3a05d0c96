"""scripted.test: pages that only a browser can read, and such as mean it harm."""

import json

from tests.site.answers import Answer, Hit, Plan, Raw, Reply, encode_head
from tests.site.pages import html, not_found, page
from tests.site.shops import PRODUCT_NUMBERS, product

LIST_STEP = 10
LIST_LENGTH = 40

FILL = """<main id="app"></main><script>
fetch("/data/%d").then(reply => reply.json()).then(data => {
  document.head.insertAdjacentHTML("beforeend",
    '<script type="application/ld+json">' + JSON.stringify(data) + "<\\/script>");
  document.title = data.name;
  document.getElementById("app").innerHTML = "<h1>" + data.name + "</h1><p class=price>" +
    data.offers.price + " " + data.offers.priceCurrency + "</p><p>In stock</p>";
});
</script>"""

LAZY_LIST = """<ul id="list"></ul><script>
let shown = 0;
const list = document.getElementById("list");
function more() {
  for (let step = 0; step < %d && shown < %d; step++) {
    const item = document.createElement("li");
    item.style.height = "200px";
    item.textContent = "item " + ++shown;
    list.append(item);
  }
}
more();
addEventListener("scroll", () => {
  if (innerHeight + scrollY >= document.body.scrollHeight - 50) more();
});
</script>"""

ALMOST_NEVER_SETTLES = """<p>This much is there at once.</p><script>
fetch("/slow-tick");
</script>"""

NEVER_SETTLES = """<p id="here">This much is there at once.</p><script>
setInterval(() => fetch("/tick?" + Math.random()), 20);
</script><img src="/endless.png">"""

HANGS = """<p>Here, but not for long.</p><script>
addEventListener("load", () => { for (;;); });
</script>"""

MEMORY = """<p>Growing</p><script>
const kept = [];
setInterval(() => kept.push(new Array(1e6).fill(Math.random())), 1);
</script>"""

#: Where the heap of a page is bounded, this ends its process within a second.
DIES = """<p>Here, but not for long.</p><script>
addEventListener("load", () => {
  const kept = [];
  for (;;) kept.push(new Array(1e5).fill(kept.length));
});
</script>"""

#: A bug of the page's own: what it would have shown never comes.
THROWS = """<main id="app"></main><script>
document.getElementById("no such element").textContent = "a product";
</script>"""

#: Every way that a page can think of to a port on the machine of whoever looks at it.
PRIVATE_WAYS = """<link rel="stylesheet" href="{private}/css">
<link rel="preload" href="{private}/pre" as="script">
<link rel="prefetch" href="{private}/fetch-ahead"><link rel="dns-prefetch" href="{private}">
<link rel="preconnect" href="{private}"><img src="{private}/img">
<iframe src="{private}/frame"></iframe><object data="{private}/object"></object>
<video src="{private}/video" autoplay></video><img src="/away-image">
<script src="{private}/script"></script>
<script>
const way = (name, go) => {{ try {{ go(); }} catch (error) {{ console.log(name, error); }} }};
way("fetch", () => fetch("{private}/fetch", {{mode: "no-cors"}}).catch(() => 0));
way("redirected", () => fetch("/away", {{mode: "no-cors"}}).catch(() => 0));
way("xhr", () => {{
  const x = new XMLHttpRequest(); x.open("POST", "{private}/xhr"); x.send("x");
}});
way("beacon", () => navigator.sendBeacon("{private}/beacon", "x"));
way("events", () => new EventSource("{private}/events"));
way("socket", () => new WebSocket("ws://127.0.0.1:{port}/socket"));
way("socket by name", () => new WebSocket("ws://localhost:{port}/socket"));
way("window", () => window.open("{private}/window"));
way("worker", () => new Worker(URL.createObjectURL(new Blob(
  ["fetch('{private}/worker', {{mode: 'no-cors'}}); new WebSocket('ws://127.0.0.1:{port}/');"]))));
way("service worker", () => navigator.serviceWorker.register("/worker.js"));
way("turn", () => {{
  const peer = new RTCPeerConnection({{iceServers: [
    {{urls: "turn:127.0.0.1:{port}?transport=tcp", username: "a", credential: "b"}},
    {{urls: "stun:127.0.0.1:{port}"}}]}});
  peer.createDataChannel("x");
  peer.createOffer().then(offer => peer.setLocalDescription(offer));
}});
way("other spellings", () => ["2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "localhost"]
  .forEach(host => fetch("http://" + host + ":{port}/", {{mode: "no-cors"}}).catch(() => 0)));
way("file", () => fetch("file:///etc/passwd").catch(() => 0));
</script><p id="done">A page with many ways to the inside.</p>"""

#: What a page can tell of the browser that it is shown in.
LOOKS = """<pre id="looks"></pre><script>
(async () => {
  const hints = navigator.userAgentData;
  const full = hints && await hints.getHighEntropyValues(["platformVersion", "fullVersionList"]);
  document.getElementById("looks").textContent = JSON.stringify({
    agent: navigator.userAgent, webdriver: navigator.webdriver, platform: navigator.platform,
    languages: navigator.languages, plugins: navigator.plugins.length,
    plugin: navigator.plugins.length ? navigator.plugins[0].name : null,
    runtime: !!(window.chrome && window.chrome.runtime),
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    width: innerWidth, height: innerHeight,
    brands: hints ? hints.brands.map(brand => brand.brand + " " + brand.version) : [],
    system: hints ? hints.platform : null, full: full,
  });
})();
</script>"""

SERVICE_WORKER = """
self.addEventListener("install", () => fetch("http://127.0.0.1:%d/", {mode: "no-cors"}));
"""


def filled(hit: Hit) -> Answer:
    if hit.last_number not in PRODUCT_NUMBERS:
        return not_found(hit)
    return Reply(200, html("", FILL % hit.last_number).replace("<h1></h1>", ""))


def data(hit: Hit) -> Reply:
    item = product("shop01.test", hit.last_number)
    found = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": item.title,
        "sku": item.sku,
        "offers": {
            "@type": "Offer",
            "price": f"{item.price_minor / 100:.2f}",
            "priceCurrency": item.currency,
            "availability": "https://schema.org/InStock",
        },
    }
    json_type = {"Content-Type": "application/json"}
    return Reply(200, json.dumps(found), json_type, delay=hit.number("seconds", 0))


def private_ways(hit: Hit) -> Reply:
    private = f"http://127.0.0.1:{hit.canary_port}"
    ways = PRIVATE_WAYS.format(private=private, port=hit.canary_port)
    return Reply(200, html("Private ways", ways))


def to_canary(hit: Hit) -> Reply:
    return Reply(302, headers={"Location": f"http://127.0.0.1:{hit.canary_port}/redirected"})


def service_worker(hit: Hit) -> Reply:
    script = SERVICE_WORKER % hit.canary_port
    return Reply(200, script, {"Content-Type": "text/javascript"})


def by_script(hit: Hit) -> Reply:
    """Sends the browser on, to wherever the query says."""
    go = f"<script>document.cookie = 'seen=yes'; location.href = '{hit.query['to']}';</script>"
    return Reply(200, html("On we go", go))


def inside_by_script(hit: Hit) -> Reply:
    go = f"<script>location.href = 'http://127.0.0.1:{hit.canary_port}/page';</script>"
    return Reply(200, html("To the inside", go))


def heavy(hit: Hit) -> Reply:
    """A page whose parts are as large as the query says."""
    return Reply(200, html("Heavy", f"<p>Heavy parts</p><script src='/part?{hit.path}'></script>"))


def part(hit: Hit) -> Reply:
    return Reply(200, b"//" + b"x" * 3_000_000, {"Content-Type": "text/javascript"})


PAGES: dict[str, Plan] = {
    "/product/*": filled,
    "/data/*": data,
    "/list": page("A long list", LAZY_LIST % (LIST_STEP, LIST_LENGTH)),
    "/never": page("Never settles", NEVER_SETTLES),
    "/unsettled": page("Almost never settles", ALMOST_NEVER_SETTLES),
    "/slow-tick": Reply(200, "tick", delay=20),
    "/tick": Reply(200, "tick"),
    "/endless.png": Raw.of(encode_head(200, {"Content-Type": "image/png"})),
    "/hangs": page("Hangs", HANGS),
    "/dies": page("Dies", DIES),
    "/throws": page("Throws", THROWS),
    "/grows": page("Grows", MEMORY),
    "/ways": private_ways,
    "/away": to_canary,
    "/away-image": to_canary,
    "/worker.js": service_worker,
    "/by-script": by_script,
    "/inside": inside_by_script,
    "/meta": Reply(
        200, html("Moved", "", '<meta http-equiv="refresh" content="0; url=/product/2">')
    ),
    "/many": page(
        "Many parts", "".join(f"<script src='/tick?{number}'></script>" for number in range(40))
    ),
    "/heavy": heavy,
    "/part": part,
    "/looks": page("Looks", LOOKS),
}
