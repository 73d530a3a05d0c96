"""The shops of the benchmark: fifty loopback addresses, one nginx worker, pages on disk."""

import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.pages import Product, render

SHOPS = 50
ROBOTS = "User-agent: *\nDisallow: /private\nAllow: /\n"
START_SECONDS = 10.0


class SiteUnavailableError(Exception):
    """The local site cannot be served; the message says what to install or look at."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where the shops listen and how many products each of them sells."""

    port: int
    products_per_shop: int

    @property
    def pages(self) -> int:
        return SHOPS * self.products_per_shop

    def urls(self) -> list[str]:
        """All shops in turn, then one page of each that robots forbid."""
        allowed = [self.url(product) for product in self.products()]
        forbidden = [f"{self.origin(shop)}/private/1.html" for shop in shops()]
        return allowed + forbidden

    def products(self) -> Iterator[Product]:
        for number in range(1, self.products_per_shop + 1):
            for shop in shops():
                yield Product(shop, number)

    def url(self, product: Product) -> str:
        return f"{self.origin(product.shop)}/product/{product.number}.html"

    def origin(self, shop: int) -> str:
        return f"http://{address(shop)}:{self.port}"


def shops() -> range:
    return range(1, SHOPS + 1)


def address(shop: int) -> str:
    return f"127.0.1.{shop}"


@contextmanager
def serve(pages: int, write: Callable[[Path, Site], None] | None = None) -> Iterator[Site]:
    """Write the pages (or have others written), start nginx on them, remove both at the end."""
    nginx = find_nginx()
    with TemporaryDirectory(prefix="penstock-bench-") as name:
        folder = Path(name)
        site = Site(free_port(), max(1, pages // SHOPS))
        (write or write_pages)(folder, site)
        (folder / "nginx.conf").write_text(configuration(folder, site.port))
        with running(nginx, folder, site):
            yield site


def find_nginx() -> str:
    """Install nginx if it is missing and we may."""
    search = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"
    if found := shutil.which("nginx", path=search):
        return found
    if apt := shutil.which("apt-get", path=search):
        subprocess.run([apt, "update"], check=False)
        subprocess.run([apt, "install", "-y", "nginx-light"], check=False)
    if found := shutil.which("nginx", path=search):
        return found
    raise SiteUnavailableError(
        "nginx is missing and could not be installed: run `apt-get install nginx-light` as root"
    )


def free_port() -> int:
    """A port that is free on the first shop's address, and so in practice on all of them."""
    with socket.socket() as probe:
        probe.bind((address(1), 0))
        port: int = probe.getsockname()[1]
        return port


def write_pages(folder: Path, site: Site) -> None:
    # nginx drops root for its worker, which must still reach the pages.
    folder.chmod(0o755)
    for shop in shops():
        root = folder / "shops" / address(shop)
        for part in ("product", "private"):
            (root / part).mkdir(parents=True)
        (root / "robots.txt").write_text(ROBOTS)
        (root / "private" / "1.html").write_text(render(Product(shop, 0)))
    for product in site.products():
        path = folder / "shops" / address(product.shop) / "product" / f"{product.number}.html"
        path.write_text(render(product))


def configuration(folder: Path, port: int) -> str:
    temporary = "\n".join(
        f"  {kind}_temp_path {folder}/{kind};"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    servers = "\n".join(
        f"  server {{ listen {address(shop)}:{port}; root {folder}/shops/{address(shop)}; }}"
        for shop in shops()
    )
    return f"""daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 8192; }}
http {{
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_timeout 65;
  keepalive_requests 1000000;
  open_file_cache max=100000 inactive=10m;
  open_file_cache_valid 10m;
  types {{
    text/html html; text/plain txt; text/css css; text/javascript js;
    application/json json; image/png png;
  }}
  charset utf-8;
{temporary}
{servers}
}}
"""


@contextmanager
def running(nginx: str, folder: Path, site: Site) -> Iterator[None]:
    command = [nginx, "-p", str(folder), "-e", f"{folder}/error.log", "-c", f"{folder}/nginx.conf"]
    server = subprocess.Popen(command)
    try:
        wait_until_listening(server, folder, site.port)
        yield
    finally:
        server.terminate()
        server.wait()


def wait_until_listening(server: subprocess.Popen[bytes], folder: Path, port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            socket.create_connection((address(SHOPS), port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise SiteUnavailableError(f"nginx did not start: {(folder / 'error.log').read_text()}")
