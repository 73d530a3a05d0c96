"""Logins for tasks whose pages need one: got before the task begins, used once, kept nowhere."""

from penstock.core.errors import CredentialNotFound, CredentialsUnavailable, UrlError
from penstock.core.urls import parse
from penstock.extract.adapter import Adapter
from penstock.extract.registry import Registry
from penstock.kernel.model import Failure, Refused
from penstock.queue.ports import Claim
from penstock.workloads.scrape.credentials import NO_LOGIN, Login, Logins
from penstock.workloads.scrape.model import TargetType

#: Logins that were got and not taken yet; a task takes its own right away.
MOST_GIVEN = 100


class Provider:
    """Gets what adapters that need a login are to send along."""

    def __init__(self, registry: Registry, logins: Logins | None) -> None:
        self._registry = registry
        self._logins = logins
        self._is_needed = any(adapter.login for adapter in registry.list())
        self._given: dict[str, Login] = {}

    def needs(self, claim: Claim) -> bool:
        """Whether the page of a task is read by an adapter that needs a login."""
        try:
            return self._is_needed and self._adapter_of(claim) is not None
        except (KeyError, TypeError, UrlError):
            # Nobody can read such an item, and that is said elsewhere.
            return False

    async def provide(self, claim: Claim) -> Failure | None:
        """Get the login of a task, or say why it cannot be had."""
        if self._logins is None:
            return Refused("credential_not_found", "no backend is set to ask for credentials")
        adapter, url = self._adapter_of(claim), parse(claim.payload["url"])
        try:
            login = await self._logins.login_for(adapter, url, claim.payload["workspace"])
        except CredentialNotFound as error:
            return Refused("credential_not_found", str(error))
        except CredentialsUnavailable as error:
            return Refused("credentials_unavailable", str(error))
        self._given[claim.id] = login
        if len(self._given) > MOST_GIVEN:
            # Tasks that were taken back before they began.
            del self._given[next(iter(self._given))]
        return None

    def take(self, claim: Claim) -> Login:
        """The login that was got for a task, if it needs one; it is given out once."""
        return self._given.pop(claim.id, NO_LOGIN)

    def _adapter_of(self, claim: Claim) -> Adapter | None:
        wanted = claim.payload["target_type"]
        if wanted == TargetType.PAGE:
            return None
        adapter = self._registry.choose(parse(claim.payload["url"]), wanted).adapter
        return adapter if adapter.login else None
