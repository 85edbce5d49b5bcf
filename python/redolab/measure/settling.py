"""When a run that ends as soon as it knows enough may end: what is known after every block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from redolab import units
from redolab.analysis.compared import block_values, comparisons_of, null_of
from redolab.analysis.reading import counting
from redolab.analysis.statements.labels import labels
from redolab.analysis.verdict import against
from redolab.experiment.answers import levels_of
from redolab.records.sample import Sample
from redolab.stats.blocks import BlockValues, Comparison, NullTest

_WORDS = {"equivalent": "counts as equal", "better": "is decided", "worse": "is decided"}


class Settling:
    """The samples of a run so far, and what they decide."""

    def __init__(self, manifest: Mapping[str, Any], earlier: Sequence[Sample] = ()) -> None:
        """A run of such a manifest, with the samples that it has already."""
        self._manifest, self._labels = manifest, labels(manifest["settings"])
        self._samples = list(earlier)
        self._levels_of = levels_of(manifest["experiment"])
        self._decided: set[tuple[str, str]] = set()
        self._settled: set[str] = set()
        self.settled = False
        """Whether the numbers to recommend are settled, or every comparison of throughput is decided where
        the experiment recommends no number; and the A/A pair could have failed."""

    def take(self, sample: Sample) -> None:
        """One more sample."""
        self._samples.append(sample)

    def news(self) -> Sequence[str]:
        """A sentence on everything that the last block has decided."""
        blocks = block_values(counting(self._samples))
        null = null_of(self._manifest, blocks)
        checked = null.passed is not None or not self._manifest["design"]["null_pair"]
        if self._levels_of is None:
            known, texts = self._compared(blocks, null)
        else:
            levels = self._levels_of(self._manifest, blocks, null)
            known = bool(levels) and all(level.settled for level in levels)
            fresh = [level for level in levels if level.settled and level.key not in self._settled]
            self._settled |= {level.key for level in fresh}
            after = units.counted(len(blocks), "block")
            texts = [f"{level.text[0].upper()}{level.text[1:]}: settled after {after}." for level in fresh]
        self.settled = known and checked
        return texts

    def _compared(self, blocks: BlockValues, null: NullTest) -> tuple[bool, list[str]]:
        """Whether every comparison is decided, and the new ones in words; the greatest ratio first."""
        found = comparisons_of(self._manifest, blocks, "throughput_per_s", null)
        decided = [item for item in found if item.outcome not in ("undecided", "withheld")]
        fresh = [item for item in decided if (item.setting, item.baseline) not in self._decided]
        self._decided |= {(item.setting, item.baseline) for item in fresh}
        fresh.sort(key=lambda item: item.ratio.point or 0.0, reverse=True)
        return bool(found) and len(decided) == len(found), [self._in_words(item) for item in fresh]

    def _in_words(self, item: Comparison) -> str:
        setting, baseline = (self._labels.get(name, name) for name in (item.setting, item.baseline))
        known = f"{setting} {_WORDS[item.outcome]} after {item.blocks} blocks"
        return f"{known}: {against(item.ratio, baseline)}."
