"""HTML pages, and handlers that choose one by path."""

from collections.abc import Iterable, Mapping

from tests.site.answers import Answer, Handler, Hit, Plan, Reply, carry_out


def html(title: str, body: str, head: str = "") -> str:
    return (
        f'<!doctype html>\n<html lang="en">\n<head><title>{title}</title>{head}</head>\n'
        f"<body>\n<h1>{title}</h1>\n{body}\n</body>\n</html>\n"
    )


def page(title: str, body: str = "<p>Nothing more to see.</p>") -> Reply:
    return Reply(200, html(title, body))


def links(paths: Iterable[str]) -> str:
    items = "\n".join(f'<li><a href="{path}">{path}</a></li>' for path in paths)
    return f"<ul>\n{items}\n</ul>"


def not_found(hit: Hit) -> Reply:
    return Reply(404, html("Not found", f"<p>{hit.host} has no such page.</p>"))


def every_path(hit: Hit) -> Reply:
    """A page whatever is asked for, of a host that shows something else than its pages."""
    return page(f"{hit.host} {hit.route}".replace("<", ""))


def by_path(routes: Mapping[str, Plan]) -> Handler:
    """Choose by path; a key that ends in `/*` stands for any last segment.

    The front page lists the others unless the routes bring one.
    """
    front = page("Pages", links(path for path in routes if not path.endswith("/*")))

    def choose(hit: Hit) -> Answer:
        parent = hit.route.rpartition("/")[0]
        plan = routes.get(hit.route) or routes.get(f"{parent}/*")
        if plan is None:
            plan = front if hit.route == "/" else not_found
        return carry_out(plan, hit)

    return choose
