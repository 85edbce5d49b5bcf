"""The evidence of a run that may end after any block, against another library's martingale.

    python -m benches.evidence_confseq

Needs `confseq` (I. Waudby-Smith, S. Howard and others), which Redolab does not: it is built from source.
Under no difference the sign of a block's difference is a fair coin, whatever its size. The factor exp(l z)
/ cosh(l z) is 1 + tanh(l z), so it is a bet of 2 tanh(l |z|) on that coin, and the evidence is the mean of
the capital of such bettors. `confseq.betting.betting_mart` computes the capital of each. Printed is the
largest difference of both logarithms over simulated series.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from confseq.betting import betting_mart  # type: ignore[import-not-found]

from redolab.stats.evidence import BETS, log_evidence

Floats = npt.NDArray[np.float64]
SEED, SERIES, BLOCKS = 20261128, 200, 60


def by_confseq(differences: Floats) -> Floats:
    """The logarithm of the evidence after each block: what `log_evidence` takes and gives."""
    capitals = []
    for series in differences:
        before = np.sqrt(np.cumsum(series**2) / np.arange(1, series.size + 1))[:-1]
        z = np.concatenate([[np.sign(series[0])], series[1:] / before])
        for bet in (*BETS, *(-bet for bet in BETS)):
            stakes = 2 * np.tanh(bet * np.abs(z))
            capitals.append(
                betting_mart(
                    (np.sign(z) + 1) / 2,
                    0.5,
                    lambdas_fn_positive=lambda _x, _m, stakes=stakes: np.abs(stakes),
                    lambdas_fn_negative=lambda _x, _m, stakes=stakes: np.abs(stakes),
                    convex_comb=True,
                    theta=1.0 if bet > 0 else 0.0,
                    trunc_scale=1.0,
                )
            )
    return np.asarray(np.log(np.mean(capitals, axis=0)))


def main() -> None:
    """Compare, and print."""
    random = np.random.default_rng(SEED)
    farthest = 0.0
    for number in range(SERIES):
        samples = 1 + number % 2
        noise = (
            random.standard_t(3, (samples, BLOCKS)) if number % 3 else random.normal(0, 1, (samples, BLOCKS))
        )
        differences = noise + random.choice([0.0, 0.3, 1.0, -2.0])
        ours, theirs = log_evidence(differences), by_confseq(differences)
        farthest = max(farthest, float(np.max(np.abs(ours - theirs) / np.maximum(1.0, np.abs(ours)))))
    print(f"{SERIES} series of {BLOCKS} blocks: logarithms differ by at most {farthest:.1e} (relative)")
    assert farthest < 1e-9


if __name__ == "__main__":
    main()
