"""The price monitor, as both clients have it: `client.monitor.targets.add(url)`."""

from penstock.client import monitor_calls as calls
from penstock.client.calls import plain, read_as
from penstock.client.groups import Group, Many, One, W
from penstock.client.monitor_calls import switch
from penstock.client.monitor_models import WatchedTarget

_target = read_as(WatchedTarget)


class Sources(Group[W]):
    """Shops, and the terms on which they are read."""

    list = One(calls.sources)
    get = One(calls.source)
    add = One(calls.add_source)
    edit = One(calls.edit_source)
    approve = One(switch("sources", "approve", plain))
    revoke = One(switch("sources", "revoke", plain))


class Retailers(Group[W]):
    """Who sells at the sources."""

    list = One(calls.retailers)
    add = One(calls.add_retailer)


class Targets(Group[W]):
    """URLs that are watched."""

    list = Many(calls.targets)
    get = One(calls.target)
    add = One(calls.add_target)
    edit = One(calls.edit_target)
    pause = One(switch("targets", "pause", _target))
    resume = One(switch("targets", "resume", _target))
    enable = One(switch("targets", "enable", _target))
    disable = One(switch("targets", "disable", _target))
    block = One(switch("targets", "block", _target))
    unblock = One(switch("targets", "unblock", _target))
    remove = One(calls.remove_target)
    requeue = One(calls.requeue)
    import_text = One(calls.import_targets)
    export = One(calls.export_targets)
    why = One(calls.why)
    page = One(calls.page)


class Runs(Group[W]):
    """Targets that are read together."""

    list = Many(calls.runs)
    get = One(calls.run)
    start = One(calls.start_run)
    retry = One(calls.retry_run)


class Adapters(Group[W]):
    """Who reads pages, how they fare, and whether a repaired one is better."""

    list = One(calls.adapters)
    enable = One(switch("adapters", "enable", plain))
    disable = One(calls.disable_adapter)
    replay = One(calls.replay)
    shadow = One(calls.shadow)


class Quarantine(Group[W]):
    """Offers that wait for a person."""

    list = Many(calls.quarantine)
    get = One(calls.quarantined)
    release = One(calls.release)
    discard = One(calls.discard)


class Prices(Group[W]):
    """What things cost, and cost: as consumers see it, and all of it for ops."""

    products = One(calls.products)
    current = One(calls.current)
    history = One(calls.history)
    list = Many(calls.prices)
    get = One(calls.price)
    export = One(calls.export_prices)
    correct = One(calls.correct)
    corrections = One(calls.corrections)
    revoke = One(calls.revoke)


class Rules(Group[W]):
    """What users want to be told of."""

    list = Many(calls.rules)
    get = One(calls.rule)
    add = One(calls.add_rule)
    enable = One(switch("rules", "enable", plain))
    disable = One(switch("rules", "disable", plain))
    remove = One(calls.remove_rule)


class Alerts(Group[W]):
    """What ops were told of."""

    list = Many(calls.alerts)


class Monitor(Group[W]):
    """Known product URLs, read on schedule; their prices, judged and kept."""

    def __init__(self, client: W) -> None:
        super().__init__(client)
        self.sources = Sources(client)
        self.retailers = Retailers(client)
        self.targets = Targets(client)
        self.runs = Runs(client)
        self.adapters = Adapters(client)
        self.quarantine = Quarantine(client)
        self.prices = Prices(client)
        self.rules = Rules(client)
        self.alerts = Alerts(client)
