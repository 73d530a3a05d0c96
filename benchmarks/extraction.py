"""`python -m benchmarks.extraction [FOLDER]`: how well and how fast products are read.

Without a folder the pages are made from the test site, padded to 200 KB. A folder of labelled
pages has `html/<id>.html.gz`, `ground-truth.json` with the URL of each, and its own `score.py`.
"""

import gzip
import json
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks import peers
from benchmarks.report import machine, render_table
from tests.site import shops

SIZE = 200 * 1024
ROUNDS = 3
IN_SAMPLE = (
    "The rules were tuned on the public labelled pages: on those, the scores say what is covered, "
    "not what to expect of other shops."
)
CONTESTANTS = {
    "penstock": (Path(sys.executable), "benchmarks.contestants.penstock_extract"),
    "extruct": (peers.PYTHON, "benchmarks.contestants.extruct_extract"),
}


@dataclass(frozen=True, slots=True)
class SavedPage:
    """A page in a file, and where it came from."""

    id: str
    path: Path
    url: str
    size: int


def main() -> None:
    options = read_options()
    peers.install()
    with TemporaryDirectory() as folder:
        work = Path(folder)
        pages = list(labelled(options.folder) if options.folder else made(work))
        text = "\n\n".join(measure(pages, options, work))
    print(text)
    if options.write:
        target = peers.ROOT / "docs" / "figures" / "extraction.md"
        target.write_text(f"# Extraction\n\n{text}\n")


def read_options() -> Namespace:
    parser = ArgumentParser(prog="python -m benchmarks.extraction", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="labelled pages")
    parser.add_argument("--write", action="store_true", help="write docs/figures/extraction.md")
    return parser.parse_args()


def labelled(folder: Path) -> Iterator[SavedPage]:
    """The pages of a folder with labels."""
    for page, labels in sorted(json.loads((folder / "ground-truth.json").read_text()).items()):
        path = folder / "html" / f"{page}.html.gz"
        yield SavedPage(page, path, labels["url"], len(gzip.decompress(path.read_bytes())))


def made(folder: Path) -> Iterator[SavedPage]:
    """Pages of the test site, with a longer description, with and without structured data."""
    for host in shops.SHOPS:
        for number in (1, 2, 7):
            html = shops.product_page(host, number)
            start, end = html.index("<script"), html.index("</script>") + len("</script>")
            for kind, text in (("json-ld", html), ("shown", html[:start] + html[end:])):
                padding = "<p>More about it, in words that sell.</p>\n" * ((SIZE - len(text)) // 42)
                whole = text.replace("</section>", f"{padding}</section>", 1).encode()
                path = folder / f"{host}-{number}-{kind}.html.gz"
                path.write_bytes(gzip.compress(whole, 1))
                yield SavedPage(path.stem, path, f"https://{host}/product/{number}", len(whole))


def measure(pages: Sequence[SavedPage], options: Namespace, work: Path) -> Iterator[str]:
    """The report, part by part."""
    manifest = work / "pages.jsonl"
    lines = ({"path": str(page.path), "url": page.url, "as": "product"} for page in pages)
    manifest.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    packages = ", ".join(f"{name} {version}" for name, version in peers.versions().items())
    yield f"{datetime.now(UTC):%Y-%m-%d}; {machine()}; {packages}."
    if options.folder:
        yield score(pages, manifest, options.folder, work)
    yield race(pages, manifest)


def score(pages: Sequence[SavedPage], manifest: Path, folder: Path, work: Path) -> str:
    """What the folder's own scorer says of what `penstock extract --manifest` reads."""
    command: list[str | Path] = [Path(sys.executable).with_name("penstock"), "extract"]
    command += ["--manifest", manifest]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    predictions = {
        page.id: {name: record[name] for name in ("price", "availability", "sku") if record[name]}
        for page, record in zip(pages, records, strict=True)
    }
    answers = work / "predictions.json"
    answers.write_text(json.dumps(predictions))
    scorer: list[str | Path] = [sys.executable, folder / "score.py", answers]
    said = subprocess.run(scorer, capture_output=True, text=True, check=True).stdout.strip()
    heading = f"{len(pages)} labelled pages of real shops, read by `penstock extract --manifest`:"
    return f"{heading}\n\n```\n{said}\n```\n\n{IN_SAMPLE}"


def race(pages: Sequence[SavedPage], manifest: Path) -> str:
    """Both readers in turns on the same pages; the best of all rounds for each page."""
    times: dict[str, list[list[float]]] = {name: [] for name in CONTESTANTS}
    for _ in range(ROUNDS):
        for name, (python, module) in CONTESTANTS.items():
            command: list[str | Path] = [python, "-m", module, manifest]
            done = subprocess.run(command, capture_output=True, check=True, cwd=peers.ROOT)
            times[name].append(json.loads(done.stdout))
            print(f"{name:10} {median(times[name][-1]):6.1f} ms", file=sys.stderr)
    best = {
        name: [min(page) for page in zip(*rounds, strict=True)] for name, rounds in times.items()
    }
    own = best["penstock"]
    rows = []
    for name, spent in best.items():
        scaled = [ms * SIZE / page.size for ms, page in zip(spent, pages, strict=True)]
        gain = median(theirs / ours for theirs, ours in zip(spent, own, strict=True))
        rows.append((name, f"{median(scaled):.2f}", f"{median(spent):.2f}", f"{gain:.1f}"))
    headings = ("reader", "ms per 200 KB", "ms per page", "times as long as Penstock")
    kilobytes = median(page.size for page in pages) / 1024
    return (
        f"Time to read one page, in one process, from its bytes; medians over {len(pages)} "
        f"pages (median {kilobytes:.0f} KB), best of {ROUNDS} alternating rounds of 3 tries. "
        f"Penstock gives a judged product; extruct lists the structured data.\n\n"
        + render_table(headings, rows)
    )


if __name__ == "__main__":
    main()
