"""A judge of single pages: nothing is known of other pages, nor of earlier prices."""

from penstock.kernel.reading import Judgment
from penstock.kernel.records import Extraction, ExtractReason
from penstock.quality.judge import RunHistory, Standing, judge
from penstock.quality.normalise import normalise
from penstock.quality.settings import QualitySettings

#: What an adapter may report and still be judged.
JUDGED = (None, ExtractReason.OOS_NO_PRICE)


class StandaloneJudge:
    """Judges every record by itself."""

    def __init__(self, settings: QualitySettings) -> None:
        self._settings = settings

    def judge(self, extraction: Extraction) -> Judgment:
        """The record and the verdict on it; none where the adapter gave up on the page."""
        normalised = normalise(extraction)
        verdict = None
        if extraction.reason in JUDGED:
            verdict = judge(extraction, normalised, Standing(RunHistory(), self._settings))
        return Judgment(normalised.record, normalised.invalid, verdict)
