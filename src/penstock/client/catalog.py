"""The product crawler, as both clients have it: `client.catalog.submit(urls)`."""

from penstock.client import catalog_calls as calls
from penstock.client import catalog_product_calls as of_products
from penstock.client.calls import plain, read_as
from penstock.client.catalog_calls import switch
from penstock.client.catalog_models import CrawlTask
from penstock.client.groups import Events, Group, Many, One, W

_task = read_as(CrawlTask)


class Tasks(Group[W]):
    """Pages that are crawled."""

    list = Many(calls.tasks)
    get = One(calls.task)
    edit = One(calls.edit_task)
    counts = One(calls.task_counts)
    attempts = Many(calls.attempts)
    page = One(calls.page)
    pause = One(switch("tasks", "pause", _task))
    resume = One(switch("tasks", "resume", _task))
    stop = One(switch("tasks", "stop", _task))
    retry = One(calls.retry)
    recrawl = One(calls.recrawl)
    reparse = One(calls.reparse)
    act = One(calls.act)


class Domains(Group[W]):
    """Sites, and on what terms they are crawled."""

    list = Many(calls.domains)
    get = One(calls.domain)
    add = One(calls.add_domain)
    edit = One(calls.edit_domain)
    activate = One(switch("domains", "activate", plain))
    deactivate = One(switch("domains", "deactivate", plain))


class Errors(Group[W]):
    """What went wrong, one by one and as patterns."""

    list = Many(calls.errors)
    patterns = One(calls.patterns)


class DeadLetters(Group[W]):
    """Pages that failed for good."""

    list = Many(calls.dead_letters)
    revive = One(calls.revive)


class Parsers(Group[W]):
    """How well pages are read."""

    rates = One(calls.rates)
    shadow = One(calls.shadow)


class Products(Group[W]):
    """What was found: filtered, searched, with price history and images."""

    list = Many(of_products.products)
    search = Many(of_products.search)
    search_page = One(of_products.search_page)
    get = One(of_products.product)
    prices = One(of_products.prices)
    images = One(of_products.images)
    image = One(of_products.image)


class Proxies(Group[W]):
    """What requests leave through."""

    list = Many(calls.proxies)
    get = One(calls.proxy)
    add = One(calls.add_proxy)
    import_text = One(calls.import_proxies)
    edit = One(calls.edit_proxy)
    remove = One(calls.remove_proxy)
    test = One(switch("proxies", "test", plain))
    enable = One(switch("proxies", "enable", plain))
    disable = One(switch("proxies", "disable", plain))


class Catalog(Group[W]):
    """Product pages, crawled into a catalogue that can be searched."""

    submit = One(calls.submit)
    submit_sitemap = One(calls.submit_sitemap)
    submission = One(calls.submission)
    submissions = Many(calls.submissions)
    watch = Events(calls.watch)

    def __init__(self, client: W) -> None:
        super().__init__(client)
        self.tasks = Tasks(client)
        self.domains = Domains(client)
        self.errors = Errors(client)
        self.dead_letters = DeadLetters(client)
        self.parsers = Parsers(client)
        self.products = Products(client)
        self.proxies = Proxies(client)
