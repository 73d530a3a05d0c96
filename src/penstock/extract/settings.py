"""The settings of extraction."""

from pathlib import Path

from pydantic import Field

from penstock.kernel.settings import Section, Words


class ExtractSettings(Section):
    """Which adapters are loaded besides Penstock's own, and where golden cases are kept."""

    adapters: Words = Field(
        (),
        description="names of entry points in the group penstock.adapters, or paths of .py files",
    )
    candidates: Words = Field(
        (),
        description="the same, of other versions of adapters: for replay and shadow by id@version",
    )
    golden: Path = Field(Path("golden"), description="the folder of the golden cases")
