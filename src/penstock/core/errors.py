"""Every exception Penstock raises.

    PenstockError
    ├── SettingsError        a setting is missing or wrong; the message names it
    ├── PolicyError          a domain policy file is wrong; names file, domain and key
    ├── UrlError             a string is not a URL that Penstock takes
    ├── AddressRefused       a name leads to an address that may not be contacted
    ├── SharedStateLost      the server that processes share their state on is away
    ├── EventsLost           events are not confirmed; they may be sent again
    ├── EventRefused         an event can never be sent as it is
    ├── BlobError            a blob cannot be kept or read; says what to do about it
    ├── JournalFailed        updates of live pages cannot be kept on disk, or read from there
    ├── PoolExhausted        no browser came free in time, or there is no memory for a page
    ├── NotDelivered         a receiver did not take a webhook; says why
    ├── CredentialNotFound   the backend has no credential of a provider for a workspace
    ├── CredentialsUnavailable   the backend does not answer, or with no credential
    ├── NoTextMaker          no process can be started to read pages; see `workloads.scrape.texts`
    ├── RunRefused           no run of the monitor can be started; see `workloads.monitor.runs`
    ├── RuleRefused          a price rule makes no sense; see `workloads.monitor.rules`
    ├── UnknownAdapterStatus   no adapter of that name has been used by the monitor
    ├── OfferRefused         a record cannot be kept as an offer; see `products.model`
    ├── SearchLost           the search server does not answer; see `products.search.ports`
    ├── SearchRefused        the search server does not do what it is asked for
    ├── SecretLost           no key opens something that was kept encrypted; see `core.secrets`
    ├── ExportRefused        a receiver of the catalogue does not take what it is sent
    ├── ExportLost           it does not answer, or has no room; see `products.exporting`
    ├── OptionsRefused       a live adapter cannot work with a feed's options; see `extract.live`
    ├── ApiError             what a caller of the API is told; its tree is in `web.errors`
    ├── ClientError          what our client is told by a service; see `client.errors`
    └── StoreError           the database refused something
        ├── StoreLost        it is out of reach, or full, and has been for too long
        └── StoreOutdated    its tables are not those of this version

Trouble with a site is never an exception: it is a `Failure` inside an `Outcome`.
"""


class PenstockError(Exception):
    """Something on our side is wrong; the message says what to do about it."""


class SettingsError(PenstockError):
    """A setting is missing or has a value that cannot be used."""


class PolicyError(PenstockError):
    """A domain policy cannot be used; says in which file, domain and key."""

    def __init__(self, problem: str, *, source: str, domain: str = "", key: str = "") -> None:
        where = ": ".join(part for part in (source, domain, key) if part)
        super().__init__(f"{where}: {problem}")
        self.source, self.domain, self.key = source, domain, key


class UrlError(PenstockError):
    """A string is not a URL that Penstock takes; `rule` names the reason in one word."""

    def __init__(self, rule: str, problem: str) -> None:
        super().__init__(problem)
        self.rule = rule


class AddressRefused(PenstockError):
    """A host leads to an address that must not be contacted; never says which address."""

    def __init__(self, rule: str) -> None:
        super().__init__(f"the host leads to an address that is off limits ({rule})")
        self.rule = rule


class SharedStateLost(PenstockError):
    """The server that holds the shared state does not answer."""


class EventsLost(PenstockError):
    """Nobody confirmed events in time; they may have been written, and may be sent again."""


class EventRefused(PenstockError):
    """An event cannot be written as it is, however often it is sent; says why."""


class BlobError(PenstockError):
    """A blob cannot be kept or read: no room, no rights, no server, or it is damaged."""


class JournalFailed(PenstockError):
    """What must not be lost cannot be written to disk, or not be read from there; says where."""


class SecretLost(PenstockError):
    """No key that is set opens something that was kept encrypted."""


class StoreError(PenstockError):
    """The database refused something."""


class StoreLost(StoreError):
    """The database is out of reach, or its disk is full, and has been for too long."""


class StoreOutdated(StoreError):
    """The tables in the database are not those of this version of Penstock."""


class PoolExhausted(PenstockError):
    """No browser came free in time, or there is no memory for another page."""


class NotDelivered(PenstockError):
    """A receiver did not take a webhook; says why, and nothing of what was in it."""


class CredentialNotFound(PenstockError):
    """The backend has no credential of a provider for a workspace."""


class CredentialsUnavailable(PenstockError):
    """The backend does not answer, or with something that is no credential."""
