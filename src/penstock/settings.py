"""All settings: `PENSTOCK_SECTION__KEY` in the environment, else `penstock.yaml`, else defaults.

A value may stand in a file: `PENSTOCK_SHARED__URL_FILE=/run/secrets/redis` is read as
`PENSTOCK_SHARED__URL`. The names that scrape service, page fetcher and live pages are configured
with elsewhere, such as `SCRAPER_PORT` and `PAGE_FETCHER_REDIS_URL`, are taken too, and so is the
section `scraper` in a file, which has a form of its own; ours win. Nothing else in Penstock reads
the environment.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import BaseModel, Field, SecretStr, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)
from pydantic_settings.exceptions import SettingsError as UnreadableSection

from penstock.blobs.settings import BlobSettings
from penstock.console.settings import ConsoleSettings
from penstock.core.errors import SettingsError
from penstock.core.log import Form
from penstock.events.settings import EventsSettings
from penstock.extract.settings import ExtractSettings
from penstock.kernel.settings import (
    AdmissionSettings,
    BreakerSettings,
    BrowserSettings,
    HttpSettings,
    IdentitySettings,
    PacingSettings,
    PoliciesSettings,
    ProxySettings,
    RetrySettings,
    RobotsSettings,
    Section,
    SharedSettings,
)
from penstock.notify.settings import NotifySettings
from penstock.products.search.settings import SearchSettings
from penstock.quality.settings import QualitySettings
from penstock.queue.broker import BrokerSettings
from penstock.queue.settings import QueueSettings
from penstock.store.settings import StoreSettings
from penstock.web.settings import ApiSettings
from penstock.workloads.catalog.settings import CatalogSettings
from penstock.workloads.live import names as live_names
from penstock.workloads.live.settings import LiveSettings
from penstock.workloads.monitor.settings import MonitorSettings
from penstock.workloads.scrape import names as scrape_names
from penstock.workloads.scrape.settings import ScrapeSettings
from penstock.workloads.stream import names as stream_names
from penstock.workloads.stream.settings import StreamSettings

PREFIX = "PENSTOCK_"
FILE_SUFFIX = "_FILE"
CONFIG_VARIABLE = "PENSTOCK_CONFIG"
DEFAULT_CONFIG = Path("penstock.yaml")
ENVIRONMENT, DEFAULT = "environment", "default"

#: Other names of settings: section and key. Of two for the same setting, the later one wins.
ALIASES: Mapping[str, tuple[str, str]] = {
    **live_names.VARIABLES,
    **stream_names.VARIABLES,
    **scrape_names.VARIABLES,
}


class LogSettings(Section):
    """What is logged, to standard error."""

    level: str = Field(
        "WARNING",
        pattern=r"(?i)^(debug|info|warning|error|critical)$",
        description="by default INFO for what runs as a service",
    )
    structured: bool = Field(True, description="as JSON; else as lines for people")

    @field_validator("level", mode="before")
    @classmethod
    def _in_full(cls, level: Any) -> Any:
        return "WARNING" if isinstance(level, str) and level.upper() == "WARN" else level

    @property
    def form(self) -> Form:
        """How lines of the log are written."""
        return "json" if self.structured else "lines"

    @property
    def service_level(self) -> str:
        """The level of a process that runs for long: there is nobody to watch it."""
        return self.level if "level" in self.model_fields_set else "INFO"


class FetchSettings(Section):
    """How much `penstock fetch` does at once, and how long it waits for a site."""

    workers: int = Field(256, ge=1, le=10_000)
    max_queued: int = Field(1_000_000, ge=1)
    patience_seconds: float = Field(900, ge=0, description="for a site that is down or closed")
    keep_outcomes_days: float = Field(30, gt=0, description="of durable fetching")
    keep_bodies: bool = Field(False, description="durable fetching keeps bodies as blobs")


class Settings(BaseSettings):
    """The root of the settings; every part of Penstock is given its own section only."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", frozen=True, extra="forbid"
    )

    admission: AdmissionSettings = AdmissionSettings()
    robots: RobotsSettings = RobotsSettings()
    pacing: PacingSettings = PacingSettings()
    breaker: BreakerSettings = BreakerSettings()
    proxies: ProxySettings = ProxySettings()
    identity: IdentitySettings = IdentitySettings()
    http: HttpSettings = HttpSettings()
    browser: BrowserSettings = BrowserSettings()
    retry: RetrySettings = RetrySettings()
    policies: PoliciesSettings = PoliciesSettings()
    shared: SharedSettings = SharedSettings()
    extract: ExtractSettings = ExtractSettings()
    quality: QualitySettings = QualitySettings()
    store: StoreSettings = StoreSettings()
    queue: QueueSettings = QueueSettings()
    broker: BrokerSettings = BrokerSettings()
    events: EventsSettings = EventsSettings()
    blobs: BlobSettings = BlobSettings()
    notify: NotifySettings = NotifySettings()
    log: LogSettings = LogSettings()
    fetch: FetchSettings = FetchSettings()
    api: ApiSettings = ApiSettings()
    scrape: ScrapeSettings = ScrapeSettings()
    monitor: MonitorSettings = MonitorSettings()
    stream: StreamSettings = StreamSettings()
    catalog: CatalogSettings = CatalogSettings()
    live: LiveSettings = LiveSettings()
    search: SearchSettings = SearchSettings()
    console: ConsoleSettings = ConsoleSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Environment before secret files before other names before the configuration file."""
        del env_settings, dotenv_settings, file_secret_settings
        return (
            init_settings,
            _Environment(settings_cls),
            _SecretFiles(settings_cls),
            _OtherNames(settings_cls),
            _ConfigFile(settings_cls),
            _OtherForm(settings_cls),
        )


def load_settings(**overrides: Any) -> Settings:
    """Read the settings; a `SettingsError` names what is wrong and where."""
    try:
        return Settings(**overrides)
    except UnreadableSection as error:
        sections = (f"{PREFIX}{section}".upper() for section in Settings.model_fields)
        named = ", ".join(name for name in sections if name in os.environ)
        raise SettingsError(f"{named}: a section is set key by key, as {named}__KEY") from error
    except ValidationError as error:
        first = error.errors()[0]
        name = PREFIX + "__".join(str(part).upper() for part in first["loc"][:2])
        said_by = _Sources().find(name)
        where = "" if said_by in (DEFAULT, ENVIRONMENT) else f" ({said_by})"
        raise SettingsError(f"{name}: {first['msg']}{where}") from error


class Explained(NamedTuple):
    """A setting with its value, for people, and who said so."""

    name: str
    value: str
    source: str


def explain(settings: Settings) -> list[Explained]:
    """Every setting, its value with secrets masked, and where it came from."""
    sources = _Sources()
    named = ((f"{PREFIX}{section}__{key}".upper(), section, key) for section, key in _all_keys())
    return [
        Explained(name, _masked(getattr(getattr(settings, section), key)), sources.find(name))
        for name, section, key in named
    ]


class _Sources:
    """Who says what a setting is."""

    def __init__(self) -> None:
        config = _ConfigFile(Settings)
        self._file = str(config.path)
        self._environment = {name.upper() for name in os.environ}
        self._written = {name: said for name, said in config().items() if isinstance(said, dict)}
        self._variables = {place: name for name, place in ALIASES.items() if _other_value(name)}
        self._paths = {live_names.FORM[path]: path for path in config.read_form()}

    def find(self, name: str) -> str:
        """Where the value of a setting comes from."""
        section, _, key = name.removeprefix(PREFIX).lower().partition("__")
        if name in self._environment:
            return ENVIRONMENT
        if f"{name}{FILE_SUFFIX}" in self._environment:
            return f"file {os.environ[name + FILE_SUFFIX]}"
        if other := self._variables.get((section, key)):
            return f"{ENVIRONMENT}, {other}"
        if key in self._written.get(section, {}):
            return self._file
        if path := self._paths.get((section, key)):
            return f"{self._file}, {live_names.FORM_SECTION}.{path}"
        return DEFAULT


def _masked(value: Any) -> str:
    """A value as text, without what is nobody's business."""
    if isinstance(value, SecretStr):
        return "***" if value.get_secret_value() else ""
    if isinstance(value, tuple | frozenset):
        return ", ".join(_masked(each) for each in value)
    return "" if value is None else str(value)


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """Variables that look like ours and are not: most likely misspelt."""
    known = {f"{PREFIX}{section}__{key}".upper() for section, key in _all_keys()}
    return sorted(
        name
        for name in environment
        if name.startswith(PREFIX)
        and not name.startswith(f"{PREFIX}TEST_")
        and name not in known
        and name.removesuffix(FILE_SUFFIX) not in known
        and name != CONFIG_VARIABLE
    )


def _all_keys() -> list[tuple[str, str]]:
    keys = []
    for section, info in Settings.model_fields.items():
        kind = info.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            keys += [(section, key) for key in kind.model_fields]
    return keys


def _secret_files() -> dict[str, tuple[str, str]]:
    """The variables that may name a file, and which setting stands in it."""
    keys = _all_keys()
    return {
        f"{PREFIX}{section}__{key}{FILE_SUFFIX}".upper(): (section, key)
        for section, key in keys
        if (section, f"{key}{FILE_SUFFIX}".lower()) not in keys
    }


class _Environment(EnvSettingsSource):
    """The environment without the `…_FILE` variables, which name no setting themselves."""

    def __init__(self, settings_cls: type[BaseSettings]) -> None:
        super().__init__(settings_cls)
        files = _secret_files()
        self.env_vars = {
            name: value for name, value in self.env_vars.items() if name.upper() not in files
        }


class _SecretFiles(PydanticBaseSettingsSource):
    """Values that stand in files named by `…_FILE` variables."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        del field
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, (section, key) in _secret_files().items():
            if path := os.environ.get(name):
                found.setdefault(section, {})[key] = _read_secret(name, path)
        return found


class _OtherNames(PydanticBaseSettingsSource):
    """Values under the names that other configurations use, or in files that those name."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        del field
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, (section, key) in ALIASES.items():
            if value := _other_value(name):
                found.setdefault(section, {})[key] = value
        return found


def _other_value(name: str) -> str | None:
    if value := os.environ.get(name):
        return value
    path = os.environ.get(name + FILE_SUFFIX)
    return _read_secret(name + FILE_SUFFIX, path) if path else None


def _read_secret(name: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{name}: {path}: {_why_unreadable(error)}") from error


class _ConfigFile(PydanticBaseSettingsSource):
    """The sections of `penstock.yaml`, or of the file that PENSTOCK_CONFIG names."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        del field
        return None, field_name, False

    @property
    def path(self) -> Path:
        """Which file it is."""
        return Path(os.environ.get(CONFIG_VARIABLE) or DEFAULT_CONFIG)

    def __call__(self) -> dict[str, Any]:
        content = self._read()
        return {name: content[name] for name in content if name != live_names.FORM_SECTION}

    def read_form(self) -> dict[str, Any]:
        """What the section in the form of live pages says, by its paths."""
        try:
            return live_names.read_form(self._read().get(live_names.FORM_SECTION))
        except SettingsError as error:
            raise SettingsError(f"{self.path}: {error}") from error

    def _read(self) -> dict[str, Any]:
        path = self.path
        if not os.environ.get(CONFIG_VARIABLE) and not path.exists():
            return {}
        try:
            content = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"{path} cannot be read: {_why_unreadable(error)}") from error
        except yaml.YAMLError as error:
            raise SettingsError(f"{path} is not YAML: {error}") from error
        if content is None:
            return {}
        if not isinstance(content, dict) or not all(isinstance(name, str) for name in content):
            raise SettingsError(f"{path} must map sections to settings")
        return content


class _OtherForm(_ConfigFile):
    """The section of the file that has the form of live pages."""

    def __call__(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for path, value in self.read_form().items():
            section, key = live_names.FORM[path]
            found.setdefault(section, {})[key] = value
        return found


def _why_unreadable(error: OSError | UnicodeDecodeError) -> str | None:
    return error.strerror if isinstance(error, OSError) else "it is not UTF-8"
