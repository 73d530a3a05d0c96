"""Nobody reads or writes prices but the modules that are there for it.

Whoever else imports the table, names it as an attribute or in SQL, or reaches it through the
metadata goes around the rules of visibility: this finds them.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "penstock"
#: Where the table may be used, and for what.
DOORS = {
    "products/tables.py": "defines it",
    "products/writing.py": "appends to it",
    "products/corrections.py": "says what counts",
    "products/visible.py": "reads it for consumers",
    "products/history.py": "reads it for ops",
    "products/exporting.py": "sends it to other programs, as corrected",
    "workloads/catalog/audit_checks.py": "looks for rows that cannot be",
    "store/migrations/product_tables.py": "makes it",
    "store/migrations/versions/0005_monitor.py": "removes it",
}
#: The view shows what consumers may see, but only `visible` knows how to ask it.
NAMES = frozenset({"prices", "price_corrections", "current_visible_prices"})
IN_SQL = re.compile(
    r"\b(?:from|join|into|update|table|truncate|replace|only|view|exists)\s+"
    r"""(?:public\.)?["'`\[]?(?:prices|price_corrections|current_visible_prices)\b""",
    re.IGNORECASE,
)


def trespasses(package: Path) -> Iterator[str]:
    """A sentence for every use of prices outside of the modules that may."""
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        if name not in DOORS:
            for line in sorted(set(_uses(ast.parse(path.read_text(encoding="utf-8"))))):
                yield f"{name}:{line} uses prices; ask products.visible or products.history"


def _uses(tree: ast.AST) -> Iterator[int]:
    modules = set(_modules_of_products(tree))
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=module, names=names) if "products" in (module or ""):
                found = any(each.name in {*NAMES, "*"} for each in names)
            case ast.Attribute(value=owner, attr=attr):
                found = attr in NAMES and ast.unparse(owner) in modules
            case ast.Subscript(value=owner, slice=ast.Constant(value=str(key))):
                found = key in NAMES and "tables" in ast.unparse(owner)
            case ast.Call(func=function, args=[ast.Constant(value=str(key)), *_]):
                found = key in NAMES and _gives_a_table(ast.unparse(function))
            case ast.Constant(value=str(text)):
                found = bool(IN_SQL.search(text))
            case _:
                found = False
        if found:
            yield getattr(node, "lineno", 0)


def _modules_of_products(tree: ast.AST) -> Iterator[str]:
    """The names under which a module knows modules of `products`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.asname or each.name for each in node.names if "products" in each.name)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").endswith("products"):
            yield from (each.asname or each.name for each in node.names)


def _gives_a_table(function: str) -> bool:
    name = function.rpartition(".")[2]
    return name in {"Table", "table"} or (name in {"get", "getattr"} and "tables" in function)


def plant(package: Path, code: str, at: str = "workloads/planted.py") -> None:
    path = package / at
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(code, encoding="utf-8")


def test_prices_are_used_only_where_the_rules_of_visibility_are_kept() -> None:
    assert list(trespasses(PACKAGE)) == []


def test_every_door_is_a_module() -> None:
    assert [name for name in DOORS if not (PACKAGE / name).is_file()] == []


@pytest.mark.parametrize(
    "code",
    [
        "from penstock.products.tables import prices",
        "from penstock.products.tables import sources, prices as p",
        "from penstock.products.tables import *",
        "from penstock.products.writing import prices",
        "from penstock.products.visible import current_visible_prices",
        "from penstock.products import tables\nquery = tables.prices.select()",
        "import penstock.products.tables\nq = penstock.products.tables.prices.c.id",
        "from penstock.store.schema import metadata\nt = metadata.tables['prices']",
        "from penstock.store.schema import metadata\nt = metadata.tables.get('prices')",
        "import sqlalchemy as sa\nt = sa.table('prices', sa.column('id'))",
        "import sqlalchemy as sa\nt = sa.Table('prices', sa.MetaData())",
        "import sqlalchemy as sa\nq = sa.text('SELECT price FROM prices WHERE id = 1')",
        "q = 'select price from sources s join  prices p on p.source_id = s.id'",
        "name = 'x'\nq = f'SELECT * FROM \"prices\" WHERE id = {name}'",
        "q = 'DELETE FROM public.prices'",
        "q = 'SELECT * FROM current_visible_prices'",
    ],
)
def test_planted_way_around_is_found(tmp_path: Path, code: str) -> None:
    plant(tmp_path, code)

    assert len(list(trespasses(tmp_path))) == 1


@pytest.mark.parametrize("name", ["export.py", "sources.py", "resolving.py"])
def test_way_around_inside_products_is_found(tmp_path: Path, name: str) -> None:
    plant(tmp_path, "from penstock.products.tables import prices", f"products/{name}")

    assert len(list(trespasses(tmp_path))) == 1


@pytest.mark.parametrize(
    "code",
    [
        "from penstock.products.tables import sources, source_products",
        "from penstock.products.visible import current, history",
        "prices = [1, 2]\ntotal = sum(prices)",
        "class Shop:\n    def look(self):\n        return self.prices",
        "def cost(page):\n    return page.prices",
        "help = 'What the prices of a product were'",
        "found = row.get('prices')",
    ],
)
def test_what_only_sounds_like_it_is_let_pass(tmp_path: Path, code: str) -> None:
    plant(tmp_path, code)

    assert list(trespasses(tmp_path)) == []
