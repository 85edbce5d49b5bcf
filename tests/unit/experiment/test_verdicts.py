"""The first sentence of every verdict, read as at night: short, with its figure and what to do."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from redolab.analysis.verdict import Circumstances, Regime, verdict
from redolab.experiment.calibrate import answer as calibrate
from redolab.experiment.commit_scaling import answer as commit_scaling
from redolab.experiment.commit_scaling.by_sessions import Scaling
from redolab.experiment.consistent_read import answer as consistent_read
from redolab.experiment.cpu_capacity import answer as cpu_capacity
from redolab.experiment.cpu_capacity.capacity import Capacity, Facts, Jump, Power, Room
from redolab.experiment.durability import answer as durability
from redolab.experiment.response_curve import answer as response_curve
from redolab.experiment.response_curve.elbow import Elbow
from redolab.experiment.rows_per_commit import answer as rows_per_commit
from redolab.experiment.sampling_distribution import answer as sampling_distribution
from redolab.experiment.session_count import answer as session_count
from redolab.experiment.verify_forecast import answer as verify_forecast
from redolab.forecast.checks.checked import Checked
from redolab.forecast.track_record import Score
from redolab.stats.blocks import Comparison, NullTest, Outcome
from redolab.stats.estimates import MISSING, Estimate

_MOST_WORDS, _MOST_WORDS_AFTER = 30, 27
PASSED = NullTest(True, 0.4, Estimate(1.001, 0.99, 1.01), 1.02, 10)
FAILED = NullTest(False, 0.004, Estimate(1.1, 1.05, 1.15), 1.02, 10)
BASE = "wait/immediate"
RATIOS: dict[Outcome, Estimate] = {
    "better": Estimate(12.0, 11.0, 13.0),
    "worse": Estimate(0.5, 0.4, 0.6),
    "equivalent": Estimate(1.012, 1.001, 1.023),
    "undecided": Estimate(1.03, 0.91, 1.21),
}
OUTCOMES: tuple[Outcome, ...] = ("better", "worse", "equivalent", "undecided", "withheld")


def first_sentence(text: str) -> str:
    return sentences(text)[0]


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=\.)\s+", text)


def check(text: str, figure: bool = True) -> None:
    first, *rest = sentences(text)
    assert len(first.split()) <= _MOST_WORDS, first
    assert first.endswith("."), first
    if figure:
        assert re.search(r"\d", first), first
        assert re.search(r"\([^)]*\d[^)]* to [^)]*\d[^)]*\)|none of", first), first
    for sentence in rest:
        assert len(sentence.split()) <= _MOST_WORDS_AFTER, sentence


def compared_to(setting: str, outcome: Outcome, base: str = BASE, **changes: Any) -> Comparison:
    plain: Outcome = "undecided" if outcome == "withheld" else outcome
    made = Comparison(
        setting, base, "throughput_per_s", 10, RATIOS[plain], RATIOS[plain], 0.01, 0.02, outcome, False, None
    )
    return replace(made, **changes)


def around(**changes: Any) -> Circumstances:
    tiers = {BASE: "disk", "wait/batch": "disk", "nowait/batch": "memory", "nowait/immediate": "os"}
    return replace(Circumstances(BASE, 10, 10, None, tiers, 0.05, "commits", "committed"), **changes)


REGIME = Regime(
    "log-bound", MISSING, MISSING,
    "Commits here wait for an emulated 5 ms log device: under wait/immediate 93 % of a session's commit time "
    "is log sync",
)  # fmt: skip


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("setting", ["nowait/batch", "wait/batch", "nowait/immediate"])
@pytest.mark.parametrize("device_ms", [None, 5.0])
@pytest.mark.parametrize("regime", [None, REGIME])
def test_commit_modes_and_list_files(
    outcome: Outcome, setting: str, device_ms: float | None, regime: Regime | None
) -> None:
    null = FAILED if outcome == "withheld" else PASSED
    sure: dict[str, Any] = {"ratio": Estimate(1.3, 1.1, 1.5)} if outcome == "undecided" else {}
    kinds: tuple[dict[str, Any], ...] = ({}, {"blocks_needed": 6}, {"blocks_needed": 1, **sure})
    for changes in kinds:
        rival = compared_to(setting, outcome, **changes)
        found = verdict(regime, null, [rival], around(log_device_ms=device_ms, blocks_done=4))
        assert found.outcome == outcome
        check(found.text)
        assert "This result rests on 4 of 10 blocks (passes over all settings)." in found.text
    few = compared_to(setting, "better", ratio=Estimate(1.02, 1.01, 1.03))
    check(verdict(regime, null, [few], around(log_device_ms=device_ms)).text)


def test_what_can_lose_commits_says_so_first() -> None:
    found = verdict(REGIME, PASSED, [compared_to("nowait/batch", "better")], around(log_device_ms=5.0))
    assert first_sentence(found.text) == (
        "Use nowait/batch if a crash may lose acknowledged commits: on an emulated log device it commits "
        "12.0 times as fast (11.0 to 13.0) as wait/immediate."
    )


def test_nothing_measured_yet() -> None:
    text = verdict(None, NullTest(None, None, MISSING, None, 0), [], around(blocks_done=0)).text
    check(text, figure=False)
    assert "This result rests on 0 of 10 blocks (passes over all settings)." in text


def run_of(outcome: Outcome, settings: list[str], best: str, **changes: Any) -> Any:
    manifest = {"engine": {"emulated": {"log_device_ms": 5.0}}}
    fields = {
        "null": FAILED if outcome == "withheld" else PASSED,
        "baseline": settings[0],
        "names": tuple(settings),
        "labels": {},
        "throughputs": [
            compared_to(name, outcome if name == best else "undecided", settings[0], blocks_needed=3)
            for name in settings[1:]
        ],
        "margin": 0.05,
        "manifest": manifest,
        "blocks_done": 5,
        "blocks_planned": 10,
    }
    return SimpleNamespace(**fields | changes)


RATES: dict[str, dict[int, float]] = {
    "grows": {1: 100, 5: 400, 20: 900},
    "stops": {1: 100, 5: 400, 20: 401},
    "falls": {1: 100, 5: 400, 20: 300},
    "one": {1: 100, 5: 90, 20: 80},
}


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("shape", RATES)
@pytest.mark.parametrize(("log", "cpus"), [(0.9, 0.4), (0.1, 0.95), (0.2, 0.3), (None, None)])
def test_commit_scaling(outcome: Outcome, shape: str, log: float | None, cpus: float | None) -> None:
    noise = [1.0, 1.01, 0.99, 1.02, 0.98, 1.0]
    rates = {n: {b: rate * noise[(b + n) % 6] for b in range(6)} for n, rate in RATES[shape].items()}
    each = {n: Estimate(log, log, log) for n in rates}
    cpu = {n: Estimate(cpus, cpus, cpus) for n in rates}
    sample: Any = SimpleNamespace(commits=800, log_flushes=100)
    found = Scaling(
        names={n: str(n) for n in rates}, samples={n: [sample, sample] for n in rates},
        rates=rates, commit_times=rates, flush_times=dict.fromkeys(range(6), 0.005),
        log_sync_s={}, log_busy=each, cpus_busy=cpu, server_cpu=cpu,
    )  # fmt: skip
    best = max(RATES[shape], key=lambda n: RATES[shape][n])
    told = commit_scaling._verdict(run_of(outcome, ["1", "5", "20"], str(best if best > 1 else 5)), found)
    check(told.text)
    if outcome != "withheld":
        assert "This result rests on 5 of 10 blocks (passes over all settings)." in told.text


class Sessions:
    """Stands for a session-count run."""

    sessions = (4, 8, 16)
    names: ClassVar = {4: "4", 8: "8", 16: "16"}
    cpus = 2
    best = 16
    so_far = None
    levels = ()

    def __init__(self, compared: Any, pool: int, outcome: Outcome) -> None:
        self.compared = compared
        self.pool = Estimate(pool, 4, 16)
        self.outcome = outcome

    def ratio(self, _number: int, _against: int) -> Estimate:
        return RATIOS["undecided" if self.outcome == "withheld" else self.outcome]

    def against_fewest(self, sessions: int) -> Comparison | None:
        return compared_to(str(sessions), self.outcome, "4", blocks_needed=3)

    def commit_time_ms(self, sessions: int, _percent: float) -> Estimate:
        return Estimate(float(sessions), 1, 20)

    def samples(self, _sessions: int) -> list[Any]:
        return [SimpleNamespace(commits=800, log_flushes=100)] * 2


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("pool", [4, 8, 16])
def test_session_count(outcome: Outcome, pool: int) -> None:
    compared = run_of(outcome, ["4", "8", "16"], str(pool))
    told = session_count._verdict(compared, Sessions(compared, pool, outcome))  # type: ignore[arg-type]
    assert told.outcome == outcome
    check(told.text)


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("label", ["", "sessions 4, loop client"])
def test_rows_per_commit(outcome: Outcome, label: str) -> None:
    from redolab.experiment.rows_per_commit.sweep import Sweep

    noise = [1.0, 1.01, 0.99, 1.02, 0.98, 1.0]
    sizes = (1, 8, 32, 128, 32768)
    times = {n: {b: (2e-6 + 60e-6 / n) * noise[(b + n) % 6] for b in range(6)} for n in sizes}
    sweep = Sweep(label, {n: str(n) for n in sizes}, times)
    compared = run_of(outcome, [str(n) for n in sizes], "128")
    told = rows_per_commit._verdict(compared, (sweep, replace(sweep, label="sessions 4")))
    check(told.text)
    assert told.outcome in (outcome, "undecided")


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("by_cpu", [False, True])
def test_consistent_read(outcome: Outcome, by_cpu: bool) -> None:
    names = ["0", "1", "2", "3", "9"]
    value = dict.fromkeys(names, RATIOS["undecided"])
    figures: Any = SimpleNamespace(
        compared=run_of(outcome, names, "3"),
        judged=[compared_to(name, outcome, "0", blocks_needed=4) for name in names[1:]],
        time=value, elapsed=value, cpu=value, versions=value, buffers=value, by_cpu=by_cpu, on_cpu=True,
        null=FAILED if outcome == "withheld" else PASSED,
        version_cost_ns=Estimate(40, 30, 50), row_cost_ns=Estimate(100, 90, 110),
        building=Estimate(1.2, 1.1, 1.3), versions_for=lambda _: Estimate(1.25, 1.2, 1.3),
    )  # fmt: skip
    told = consistent_read.verdict(figures)
    assert told.outcome == outcome
    check(told.text)


POWERS: tuple[Power, ...] = ("cores", "threads", "quota", "less", "undecided")


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("withheld", [False, True])
@pytest.mark.parametrize("others", [0.0, 0.4, 0.7])
def test_cpu_capacity(power: Power, withheld: bool, others: float) -> None:
    effective, taken = Estimate(3.9, 3.7, 4.1), Estimate(others, others, others)
    room = Room(4, 8, 4.5, 0.1) if power == "quota" else Room(4, 8)
    capacity = Capacity(effective, effective, effective)
    facts = Facts(capacity, power, Jump(4, 5), taken, taken, taken)
    text, _ = cpu_capacity.verdict(facts, room, withheld=withheld)
    check(text)


@pytest.mark.parametrize("answer", ["enough", "not enough", "undecided"])
def test_sampling_distribution(answer: str) -> None:
    share = Estimate(0.954, 0.951, 0.957)
    item: Any = SimpleNamespace(
        repetitions=400, size=30, groups=30, answer=answer, inside_share=share, normal_share=0.955,
        means_rejected=share, values_rejected=share, two_sd_of_five=share, t_of_five=share,
    )  # fmt: skip
    check(sampling_distribution._verdict([item, item]))
    check(sampling_distribution._verdict([]), figure=False)


def test_calibrate() -> None:
    def costs(scale: float) -> Any:
        return SimpleNamespace(
            flush_mean_s=0.001 * scale, flush_cpu_s=0.00002, row_known=True, second=None,
            transaction_with=lambda _: 3e-5, client_with=lambda _: 0.0, row_with=lambda _: 2e-6,
        )  # fmt: skip

    busy = SimpleNamespace(
        quantities={"commits_per_flush": Estimate(8, 7, 9)}, scenario=SimpleNamespace(sessions=32)
    )
    found: Any = SimpleNamespace(
        point=costs(1.0),
        replicates=[costs(s) for s in np.linspace(0.9, 1.1, 20)],
        today="t",
        measured={"t": busy},
    )
    check(calibrate._costs(found))


@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("forecast", [False, True])
@pytest.mark.parametrize("judged", [["inside", "outside"], ["inside", "drawn", "unsteady"], ["drawn"]])
def test_response_curve(at_end: bool, forecast: bool, judged: list[str]) -> None:
    elbow, rate = Elbow(2_733.0, 8.52, at_end), Estimate(2_733.0, 2_650.0, 2_960.0)
    points = [
        SimpleNamespace(asked_per_s=300.0 * n, share=0.1 * n, repeat=1.0 + 0.1 * n) for n in range(1, 12)
    ]
    one: Any = SimpleNamespace(
        curve=SimpleNamespace(
            name="32/1/wait",
            words="32 sessions, 1 row per commit, commits do not wait",
            capacity_per_s=Estimate(3_093.0, 3_050.0, 3_135.0),
            points=points,
        ),
        elbow=(elbow, rate),
        forecast=SimpleNamespace(
            elbow=(elbow, rate), less_service=lambda _: (9.0, Estimate(0.996, 0.992, 1.01))
        )
        if forecast
        else None,
        pairs=[(None, None, word) for word in judged],
    )
    compared = run_of("undecided", ["32/1/wait"], "32/1/wait")
    told = response_curve._verdict(compared, [one, one])
    check(told.text)
    assert ("which is the elbow of the curve or less" in told.text) == at_end
    assert ("The forecast puts the elbow" in told.text) == forecast
    assert ("keep the CPUs nearly full" in told.text) == ("drawn" in judged)
    assert "This result rests on 5 of 10 blocks (passes over all settings)." in told.text
    check(response_curve._verdict(compared, []).text, figure=False)


@pytest.mark.parametrize("missing", [0, 3])
@pytest.mark.parametrize("kills", [0, 4, 20])
@pytest.mark.parametrize("emulated", [None, 5.0])
def test_durability(missing: int, kills: int, emulated: float | None) -> None:
    kill: Any = SimpleNamespace(acknowledged=1000, missing=missing, loss_window_s=0.2)
    lossy: Any = SimpleNamespace(acknowledged=1000, missing=7, loss_window_s=0.2)
    losses = [
        durability._Losses("wait/immediate", "disk", [kill] * kills, 0),
        durability._Losses("wait/batch", "disk", [kill] * kills, 0),
        durability._Losses("nowait/immediate", "memory", [lossy] * kills, 0),
        durability._Losses("nowait/batch", "memory", [lossy] * kills, 0),
    ]
    manifest = {"engine": {"emulated": {} if emulated is None else {"log_device_ms": emulated}}}
    text = durability._text(losses, durability._outcome(losses), manifest)
    # A count of lost commits has no plus and minus: those of one kill fall together.
    check(text, figure=False)
    assert bool(re.search(r"\d", first_sentence(text))) == bool(kills)


@pytest.mark.parametrize("settings", [1, 4])
@pytest.mark.parametrize("observed", [1000.0, 2000.0])
def test_verify_forecast(settings: int, observed: float) -> None:
    checked = tuple(
        Checked(
            f"{n}/1/wait",
            Score("m", "f", "throughput_per_s", 1010.0, observed, 900.0, 1100.0),
            0.9,
            0,
            MISSING,
        )
        for n in range(settings)
    )
    scoring: Any = SimpleNamespace(checked=checked, model="m")
    told = verify_forecast._verdict(SimpleNamespace(baseline="today"), scoring)  # type: ignore[arg-type]
    check(told.text, figure=settings == 1)
    assert re.search(r"\d", first_sentence(told.text))
    none: Any = SimpleNamespace(checked=(), model="m")
    check(verify_forecast._verdict(SimpleNamespace(baseline=("today")), none).text, figure=False)  # type: ignore[arg-type]
