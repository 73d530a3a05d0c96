"""The pages of a live match: written by a script from data, or plain."""

from tests.site.live_match import Match

#: Beginnings of class names: as they are, after a redesign, and what no adapter knows.
USUAL, REDESIGNED, UNKNOWN = "", "m-", "x-"

#: Written out by both: the script below and `plain_match`.
SHOW = """const kept = [];
function show(m) {
  if (m.order === "hang") for (;;);
  if (m.order === "reload") return location.reload();
  if (m.order === "leak") kept.push(new Uint8Array(m.mb * 1048576).fill(1));
  const s = m.score || m.points, main = document.getElementById("match");
  const one = (name, value) => value === null ? "" : `<b class="${m.markup}${name}">${value}</b> `;
  const all = (names, row) => names.map(name => one(name, row[name])).join("");
  main.removeAttribute("data-match-id"); main.removeAttribute("data-match");
  main.setAttribute(m.markup ? "data-match" : "data-match-id", m.matchId);
  main.innerHTML = m.teams.map(team => one("team", team)).join("v ") +
    all(["status", "innings"], m) + all(["batting", "runs", "wickets", "overs", "target"], s) +
    m.batters.map(b => one("batter-name", b.name) + one("batter-runs", b.runs) +
      one("batter-balls", b.balls)).join("") + one("result", m.result);
}
"""

POLL = """const at = location.pathname + "/data.json" + location.search;
const look = () => fetch(at).then(r => r.ok && r.json()).then(m => m && show(m)).catch(() => 0);
look(); setInterval(look, 1000);
"""

LISTEN = """const at = "ws://" + location.host + location.pathname.replace("socket", "stream");
function listen() {
  const socket = new WebSocket(at + location.search);
  socket.onmessage = event => show(JSON.parse(event.data));
  socket.onclose = () => setTimeout(listen, 1000);
}
listen();
"""

REFRESH = '<meta http-equiv="refresh" content="2">'


def scripted_match(title: str, script: str, head: str = "") -> str:
    """A page that is empty until its script has run."""
    return (
        f"<!doctype html><title>{title}</title>{head}<main id=match>Loading</main>"
        f"<script>{SHOW}{script}</script>"
    )


def plain_match(match: Match, markup: str, head: str = "") -> str:
    """The page as it is when the script has run, without one."""
    title = " v ".join(match.teams)
    identity = f"data-match{'' if markup else '-id'}={match.number}"
    return (
        f"<!doctype html><title>{title}</title>{head}<main id=match {identity}>"
        f"{_written(match, markup)}</main>"
    )


def _written(match: Match, markup: str) -> str:
    def one(name: str, value: object) -> str:
        return "" if value is None else f'<b class="{markup}{name}">{value}</b> '

    score = ("batting", "runs", "wickets", "overs", "target")
    batters = (
        one("batter-name", batter.name)
        + one("batter-runs", batter.runs)
        + one("batter-balls", batter.balls)
        for batter in match.batters
    )
    return "".join(
        [
            "v ".join(one("team", team) for team in match.teams),
            *(one(name, getattr(match, name)) for name in ("status", "innings", *score)),
            *batters,
            one("result", match.result),
        ]
    )
