"""How a page sees the browser: as Penstock's, or, where a policy asks for it, as a common one."""

import json
from dataclasses import dataclass
from typing import Any

from penstock.kernel.fetchers.egress import LOOPBACK, Egress
from penstock.kernel.identity import PLATFORMS, Persona

#: An honest browser has a plain window and speaks English.
PLAIN_WINDOW = {"width": 1280, "height": 720}
PLAIN_LOCALE, PLAIN_LANGUAGES = "en-US", ("en-US", "en")
OUR_PLATFORM = PLATFORMS[-1]

#: Takes away what tells an automated browser from a person's. Runs before any script of a page.
MASK = """
(languages => {
  const shown = (thing, name, get) =>
    Object.defineProperty(thing, name, { get, configurable: true, enumerable: true });
  shown(Navigator.prototype, 'webdriver', () => false);
  shown(Navigator.prototype, 'languages', () => Object.freeze([...languages]));
  const names = ['PDF Viewer', 'Chrome PDF Viewer', 'Chromium PDF Viewer',
    'Microsoft Edge PDF Viewer', 'WebKit built-in PDF'];
  const plugins = Object.create(PluginArray.prototype);
  names.forEach((name, place) => {
    const plugin = Object.create(Plugin.prototype);
    shown(plugin, 'name', () => name);
    shown(plugin, 'filename', () => 'internal-pdf-viewer');
    shown(plugin, 'description', () => 'Portable Document Format');
    shown(plugin, 'length', () => 2);
    shown(plugins, place, () => plugin);
    Object.defineProperty(plugins, name, { value: plugin, configurable: true });
  });
  shown(plugins, 'length', () => names.length);
  plugins.item = place => plugins[place] || null;
  plugins.namedItem = name => plugins[name] || null;
  plugins[Symbol.iterator] = function* () { for (const name of names) yield plugins[name]; };
  if (!navigator.plugins.length) shown(Navigator.prototype, 'plugins', () => plugins);
  const chrome = window.chrome || {};
  if (!chrome.runtime) Object.defineProperty(chrome, 'runtime', { value: {}, enumerable: true });
  if (!window.chrome)
    Object.defineProperty(window, 'chrome', { value: chrome, writable: true, configurable: true });
})
"""


@dataclass(frozen=True, slots=True)
class Looks:
    """An agent string, or somebody with a browser; `major` is the version of the real one."""

    agent: str
    persona: Persona | None
    major: int

    def options(self, egress: Egress) -> dict[str, Any]:
        """What a context is made with: nothing in it, and no way out but one."""
        return {
            **self._of_the_window(),
            "proxy": {"server": f"http://{LOOPBACK}:{egress.port}"},
            "service_workers": "block",
            "accept_downloads": False,
        }

    def _of_the_window(self) -> dict[str, Any]:
        persona = self.persona
        if persona is None:
            return {"user_agent": self.agent, "viewport": PLAIN_WINDOW, "locale": PLAIN_LOCALE}
        city, size = persona.city, {"width": persona.width, "height": persona.height}
        return {
            "user_agent": persona.agent,
            "viewport": size,
            "screen": size,
            "locale": persona.locale,
            "timezone_id": city.time_zone,
            "geolocation": {"latitude": city.latitude, "longitude": city.longitude},
        }

    def override(self) -> dict[str, Any]:
        """The agent string with client hints that say the same; for `Emulation`."""
        persona = self.persona
        platform = persona.platform if persona else OUR_PLATFORM
        brands = [
            {"brand": "Chromium", "version": str(self.major)},
            {"brand": "Google Chrome" if persona else "HeadlessChrome", "version": str(self.major)},
            {"brand": "Not_A Brand", "version": "24"},
        ]
        full = [{**brand, "version": f"{brand['version']}.0.0.0"} for brand in brands]
        return {
            "userAgent": persona.agent if persona else self.agent,
            "acceptLanguage": ",".join(persona.languages if persona else PLAIN_LANGUAGES),
            "platform": platform.navigator,
            "userAgentMetadata": {
                "brands": brands,
                "fullVersionList": full,
                "platform": platform.name,
                "platformVersion": platform.version,
                "architecture": "x86",
                "bitness": "64",
                "model": "",
                "mobile": False,
                "wow64": False,
            },
        }

    def script(self) -> str:
        """What runs before any script of a page; nothing for an honest browser."""
        if self.persona is None:
            return ""
        return f"{MASK}({json.dumps(self.persona.languages)});"
