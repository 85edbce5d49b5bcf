"""The evidence of a run that ends as soon as it knows enough, block by block, as a figure."""

from __future__ import annotations

from redolab.analysis.compared import Compared
from redolab.analysis.exhibits import Axis, Figure, Series
from redolab.analysis.servers.pairs import pairs_of
from redolab.stats.blocks import ALPHA
from redolab.stats.sequential import evidence_by_block


def evidence_figures(compared: Compared) -> tuple[Figure, ...]:
    """How the evidence for a difference of throughput grew; nothing for a run of a fixed number of blocks."""
    if not compared.until_settled:
        return ()
    pairs, labels = pairs_of(compared.manifest), compared.labels
    blocks = compared.blocks["throughput_per_s"]
    grown = {pair: evidence_by_block(blocks, *pair) for pair in pairs}
    longest = max((len(each) for each in grown.values()), default=0)
    if not longest:
        return ()
    first = len(pairs) / ALPHA
    series = [
        Series(
            f"{labels.get(name, name)} against {labels.get(reference, reference)}",
            list(range(1, len(each) + 1)),
            each,
            style="line",
        )
        for (name, reference), each in grown.items()
    ]
    line = Series(
        "above this line the first comparison is decided", [1, longest], [first, first], style="dashed"
    )
    return (
        Figure(
            "evidence",
            "Evidence for a difference, block by block",
            "Without any difference, evidence reaches 20 by chance in at most one run of 20, and 100 in at "
            "most one run of 100, however often one looks. One block (a pass over all settings) at most "
            "doubles the evidence. The first comparison is decided at the dashed line; the others need less "
            "evidence.",
            Axis("Block"),
            Axis("Greatest evidence so far", logarithmic=True),
            (*series, line),
        ),
    )
