"""What programs write that is no file of separated values. Samples are from their own documentation."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from redolab.errors import UsageError
from redolab.values.figures import analyse_values
from redolab.values.file import ValuesFile, joined, read_values

DATA = Path(__file__).parent / "data"
Read = Callable[..., ValuesFile]

TRANSACTIONS = """\
0 199 2241 0 1175850568 995598
0 200 2465 0 1175850568 998079
0 201 2513 0 1175850569 608
0 202 2038 0 1175850569 2663
"""
LATE = """\
0 81 4621 0 1412881037 912698 3005
0 82 6173 0 1412881037 914578 4304
0 83 skipped 0 1412881037 914578 5217
0 83 skipped 0 1412881037 914578 5099
0 83 4722 0 1412881037 916203 3108
"""
INTERVALS = """\
1650260552 5178 26171317 177284491527 1136 44462 2647617 7321113867 0 9866 64 7564 28340 4148 0
1650260562 4808 25573984 220121792172 1171 62083 3037380 9666800914 0 9998 598 7392 26621 4527 0
"""
SYSBENCH = """\
sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)

Running the test with following options:
Number of threads: 4
Report intermediate results every 1 second(s)

Threads started!

[ 1s ] thds: 4 tps: 1203.47 qps: 24113.30 (r/w/o: 9/4/2) lat (ms,95%): 4.18 err/s: 0.00 reconn/s: 0.00
[ 2s ] thds: 4 tps: 1250.02 qps: 25004.46 (r/w/o: 9/4/2) lat (ms,95%): 3.96 err/s: 1.00 reconn/s: 0.00
SQL statistics:
    transactions:                        2454   (1226.22 per sec.)
Latency (ms):
         min:                                    1.88
         avg:                                    3.26
"""
HISTOGRAM = """\
sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)
Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
       1.887 |****                                     2
       1.921 |**************************************** 20
       2.106 |                                         1

"""
VMSTAT = """\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 1  0      0 278632  70004 842020    9    9   200   100   50   60  5  1 90  4  0
 2  1      0 361063  70004 842024    0    0     0    48  900 1800 10  3 85  2  0
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 4  0      0 867588  70004 842040    0    0     4   128 1100 2100 12  4 82  2  0
"""
HGRM = """\
       Value     Percentile TotalCount 1/(1-Percentile)

       1.000 0.000000000000          2           1.00
       2.000 0.500000000000          6           2.00
       4.000 0.900000000000          9          10.00
       8.000 1.000000000000         10
#[Mean    =        2.250, StdDeviation   =        1.900]
#[Max     =        8.000, Total count    =           10]
#[Buckets =            4, SubBuckets     =         2048]
"""


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Reads text as a file of that name."""

    def reader(content: str, *, name: str = "file.txt", **named: str) -> ValuesFile:
        path = tmp_path / name
        path.write_text(content)
        return read_values(str(path), **named)

    return reader


# pgbench


def test_latency_of_each_transaction_of_pgbench_is_in_ms(read: Read) -> None:
    found = read(TRANSACTIONS)
    assert (found.title, found.format) == ("latency (ms)", "a log of pgbench -l")
    assert found.values.tolist() == [2.241, 2.465, 2.513, 2.038]
    assert "Its column latency is analysed. --value also accepts time" in found.notes[0]
    assert np.diff(read(TRANSACTIONS, value="time").values) == pytest.approx(
        [0.002481, 0.002529, 0.002055], abs=1e-6
    )


def test_transactions_of_pgbench_that_have_no_latency_are_counted(read: Read) -> None:
    found = read(LATE)
    assert found.values.tolist() == [4.621, 6.173, 4.722]
    assert (found.rows, found.missing) == (5, 2)
    assert "2 transactions failed or were skipped" in " ".join(found.notes)
    assert "µs if pgbench ran with --rate, else the number of retries" in " ".join(found.notes)
    assert read(LATE, value="lag_or_retries").values.tolist() == [3005.0, 4304.0, 5217.0, 5099.0, 3108.0]


def test_both_further_figures_of_pgbench_are_told_apart(read: Read) -> None:
    text = "0 1 4621 0 1412881037 912698 3005 2\n1 1 failed 1 1412881037 912700 10 4\n"
    assert read(text, value="lag").values.tolist() == [3.005, 0.01]
    assert read(text, value="retries").values.tolist() == [2.0, 4.0]
    assert read(text, group="script").groups == ("0", "1")


def test_a_sample_of_transactions_is_said_to_be_one(read: Read) -> None:
    assert "--sampling-rate" not in " ".join(read(TRANSACTIONS).notes)
    sampled = "0 3 2241 0 1175850568 995598\n0 17 2465 0 1175850568 998079\n"
    assert "--sampling-rate" in " ".join(read(sampled).notes)


def test_intervals_of_pgbench_give_their_mean_and_say_that_of_all(read: Read) -> None:
    found = read(INTERVALS)
    assert (found.title, found.in_time) == ("latency_mean (ms)", True)
    assert found.values == pytest.approx([26171317 / 5178 / 1000, 25573984 / 4808 / 1000])
    assert read(INTERVALS, value="latency_maximum").values.tolist() == [44.462, 62.083]
    assert read(INTERVALS, value="serialization_failures").values.tolist() == [4148.0, 4527.0]
    mean = (26171317 + 25573984) / (5178 + 4808)
    spread = ((177284491527 + 220121792172) / (5178 + 4808) - mean**2) ** 0.5
    (said,) = (note for note in found.notes if "Over all" in note)
    assert "Over all 9,986 transactions, the mean is 5.18 ms" in said
    assert f"{spread / 1000:.2f} ms" in said


@pytest.mark.parametrize("further", ["", " 0 0 0 0", " 0 0 0 0 3", " 5 6", " 0 0 0 0 3 5 6"])
def test_intervals_of_every_pgbench(read: Read, further: str) -> None:
    text = f"1345828501 5601 1542744 483552416 61 2573{further}\n1345828503 0 0 0 0 0{further}\n"
    found = read(text)
    assert found.values == pytest.approx([1542744 / 5601 / 1000])
    assert found.missing == 1


def test_logs_of_several_threads_are_taken_together(tmp_path: Path) -> None:
    first, second = tmp_path / "pgbench_log.1234", tmp_path / "pgbench_log.1234.1"
    first.write_text(TRANSACTIONS)
    second.write_text("1 0 5000 0 1175850568 995600\n1 1 6000 0 1175850568 995700\n")
    one, other = read_values(str(first), group="client"), read_values(str(second), group="client")
    assert f"Other threads of pgbench wrote logs in the same directory: {second}" in " ".join(one.notes)
    both = joined([one, other])
    assert both.values.tolist() == [2.241, 2.465, 2.513, 2.038, 5.0, 6.0]
    assert [both.groups[place] for place in both.member] == ["0"] * 4 + ["1"] * 2
    assert both.rows == 6


def test_files_of_two_kinds_are_not_taken_together(read: Read) -> None:
    with pytest.raises(UsageError, match="cannot be analysed together: the format of the first is CSV"):
        joined([read("ms\n1\n2.5\n"), read(TRANSACTIONS, name="log")])


def test_an_empty_line_at_the_end_of_a_log_is_none(read: Read) -> None:
    assert read(TRANSACTIONS + "\n").values.tolist() == [2.241, 2.465, 2.513, 2.038]


def test_half_a_line_at_the_end_of_a_log_is_named(read: Read) -> None:
    with pytest.raises(UsageError, match=r"line 5: '0 203 22' is not a line of this pgbench log"):
        read(TRANSACTIONS + "0 203 22")


# sysbench, vmstat


def test_intervals_of_sysbench(read: Read) -> None:
    found = read(SYSBENCH)
    assert (found.title, found.values.tolist()) == ("latency_percentile (ms)", [4.18, 3.96])
    assert "the 95th percentile of latency in one interval, because sysbench" in " ".join(found.notes)
    assert read(SYSBENCH, value="tps").values.tolist() == [1203.47, 1250.02]
    assert read(SYSBENCH, value="qps").values.tolist() == [24113.3, 25004.46]
    assert read(SYSBENCH, value="errors_per_s").values.tolist() == [0.0, 1.0]


def test_intervals_of_an_old_sysbench(read: Read) -> None:
    line = (
        "[{}s] threads: 4, tps: {}, reads: 10.00, writes: 5.00, response time: {}ms (95%), errors: 0.00, "
        "reconnects: 0.00\n"
    )
    text = "sysbench 0.5:  multi-threaded system evaluation benchmark\n" + line.format("   1", 123.5, 12.25)
    assert read(text).values.tolist() == [12.25]
    assert read(text, value="tps").values.tolist() == [123.5]


def test_intervals_of_files_by_sysbench(read: Read) -> None:
    line = "[ {}s ] reads: 24.35 MiB/s writes: 16.23 MiB/s fsyncs: 51.94/s latency (ms,95%): {}\n"
    found = read("sysbench 1.0.20 (using system LuaJIT)\n" + line.format(1, "9.560") + line.format(2, "8.5"))
    assert (found.title, found.values.tolist()) == ("latency_percentile (ms)", [9.56, 8.5])


def test_without_percentiles_sysbench_has_its_rate(read: Read) -> None:
    found = read(SYSBENCH.replace("4.18", "0.00").replace("3.96", "0.00"))
    assert found.title == "tps (tps)"


def test_a_histogram_of_sysbench(read: Read) -> None:
    found = read(HISTOGRAM)
    assert found.values.tolist() == [1.887] * 2 + [1.921] * 20 + [2.106]
    assert not found.ordered


def test_a_summary_of_sysbench_is_refused_with_what_to_do(read: Read) -> None:
    with pytest.raises(UsageError, match=r"no line of an interval.*--report-interval=1 or --histogram=on"):
        read("\n".join(line for line in SYSBENCH.splitlines() if not line.startswith("[")))


def test_vmstat_has_no_rates_in_its_first_line(read: Read) -> None:
    free = read(VMSTAT, value="free")
    assert (free.values.tolist(), free.missing) == ([278632.0, 361063.0, 867588.0], 0)
    switches = read(VMSTAT, value="cs")
    assert (switches.values.tolist(), switches.missing) == ([1800.0, 2100.0], 1)
    assert "means since the machine started" in " ".join(switches.notes)
    with pytest.raises(UsageError, match=r"is output of vmstat and has 17 columns of numbers\. Choose one"):
        read(VMSTAT)


def test_vmstat_with_times(read: Read) -> None:
    lines = VMSTAT.splitlines()
    text = "\n".join(
        line
        + (
            " -----timestamp-----"
            if place in (0, 4)
            else " UTC"
            if place in (1, 5)
            else " 2026-11-27 13:00:01"
        )
        for place, line in enumerate(lines)
    )
    assert read(text, value="wa").values.tolist() == [2.0, 2.0]


def test_a_line_that_is_none_of_vmstat_is_named(read: Read) -> None:
    with pytest.raises(UsageError, match="line 8: 'oops' is not a line of vmstat"):
        read(VMSTAT + "oops\n", value="cs")


# HdrHistogram


def test_a_percentile_file_is_expanded_and_its_own_mean_said(read: Read) -> None:
    found = read(HGRM)
    assert found.values.tolist() == [1.0] * 2 + [2.0] * 4 + [4.0] * 3 + [8.0]
    said = " ".join(found.notes)
    assert "Each of its 4 steps holds up to 40.0% of the values" in said
    assert "mean 2.25, standard deviation 1.90" in said


def test_a_percentile_file_as_csv(read: Read) -> None:
    text = '"Value","Percentile","TotalCount","1/(1-Percentile)"\n1.5,0.0,3,1.00\n2.5,1.0,4,Infinity\n'
    assert read(text).values.tolist() == [1.5] * 3 + [2.5]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HGRM.replace("         10\n#", "         11\n#"), "has 11 values up to .* count is 10"),
        (HGRM.replace("   9   ", "   5   "), "line 5: its value or its count is lower"),
        (HGRM.split("\n\n", maxsplit=1)[0] + "\n", "no lines of percentiles"),
        (HGRM.replace("   10\n", "   9999999999\n").replace("   10]", "   9999999999]"), "one by one"),
    ],
)  # fmt: skip
def test_a_percentile_file_that_is_not_whole(read: Read, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read(text)


@pytest.mark.parametrize(
    ("name", "count", "percentile", "largest"),
    [
        ("jhiccup-v2.hlog", 48761, 1745.879039, 1796.210687),
        ("jhiccup-v1.hlog", 65964, 1829.765119, 1888.485375),
    ],
)
def test_logs_of_hdrhistogram_say_what_its_own_tests_say(
    name: str, count: int, percentile: float, largest: float
) -> None:
    """Source: HdrHistogram, `HistogramLogReaderWriterTest.java`.

    That adds the lower ends of these buckets, which have two digits, to a histogram of three digits, and
    gives the upper ends there.
    """
    found = read_values(str(DATA / name))
    assert found.values.size == count
    lower_ends = np.sort(found.values) * 1e6 - 2**22
    upper_ends = lower_ends + 2**20 - 1
    assert upper_ends[int(0.999 * count + 0.5) - 1] == pytest.approx(percentile * 1e6, abs=1)
    assert upper_ends[-1] == pytest.approx(largest * 1e6, abs=1)
    assert "exact to 2 decimal digits" in " ".join(found.notes)
    assert "which is 1,000,000 times the unit inside the histograms" in " ".join(found.notes)


def test_tags_of_a_log_of_hdrhistogram_are_groups() -> None:
    found = read_values(str(DATA / "tagged-v2.hlog"), group="tag")
    assert (found.values.size, set(found.groups)) == (32290, {"A", "none"})
    first, second = (np.sort(found.values[found.member == place]) for place in range(2))
    assert np.array_equal(first, second)


@pytest.mark.parametrize(
    "payload",
    ["HISTFAAAAEV42pNpmSzMwMCgyAAB", "HISTAAAAAEV42g==", "HISTFAAA////f3ja", "HISTFAAAAEV42pNp"],
)  # fmt: skip
def test_a_damaged_histogram_is_named_with_its_line(read: Read, payload: str) -> None:
    with pytest.raises(UsageError, match="line 3 holds a histogram that cannot be read"):
        read(f"#[Histogram log format version 1.2]\n# made up\n0.1,1.0,2.7,{payload}\n")


def test_a_log_of_more_histograms_than_are_decoded_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("redolab.values.formats.hlog._MOST_ALL_BYTES", 1000)
    with pytest.raises(UsageError, match="its histograms have more than 1,000 bytes so far"):
        read_values(str(DATA / "jhiccup-v2.hlog"))


def test_what_depends_on_order_is_not_said_of_a_histogram(read: Read) -> None:
    file = read(HGRM)
    results = analyse_values(file)
    assert results["means"]["count"] == 0
    assert results["groups"][0]["count"] == 10
    assert "does not keep the order" in " ".join(results["warnings"])
    with pytest.raises(UsageError, match="does not keep the order"):
        analyse_values(file, children=2)


# fio and k6


def test_logs_of_fio(read: Read) -> None:
    text = "1, 123456, 0, 4096, 0, 0\n2, 223456, 1, 4096, 4096, 0\n"
    found = read(text, name="x_clat.1.log", group="direction")
    assert (found.title, found.values.tolist()) == ("clatency (ms)", [0.123456, 0.223456])
    assert found.groups == ("read", "write")
    assert read(text, name="x_bw.log").title == "bandwidth (KiB/s)"


def test_a_log_of_fio_without_a_known_unit_says_so(read: Read) -> None:
    found = read("1, 123456, 0, 4096\n2, 223456, 1, 4096\n", name="x_lat.log")
    assert (found.unit, found.values.tolist()) == (None, [123456.0, 223456.0])
    assert "in ns since fio 3, in µs before" in " ".join(found.notes)


def fio(bins: dict[str, int] | None) -> str:
    clat = {"N": 3, "min": 1000000, "max": 2500000, "mean": 1500000.0, "percentile": {"50.000000": 1000000}}
    side = {"clat_ns": clat | ({} if bins is None else {"bins": bins})}
    return json.dumps(
        {"fio version": "fio-3.36", "jobs": [{"jobname": "j", "read": side, "write": {"clat_ns": {"N": 0}}}]},
        indent=2,
    )


def test_the_histogram_of_fio(read: Read) -> None:
    found = read(fio({"2500000": 1, "1000000": 2}), group="tag")
    assert (found.values.tolist(), found.unit) == ([1.0, 1.0, 2.5], "ms")
    assert found.groups == ("j read",)
    assert "mean 1.50 ms, max 2.50 ms" in " ".join(found.notes)


def test_a_summary_of_fio_is_said_and_refused(read: Read) -> None:
    with pytest.raises(UsageError, match=r"not single values \(j read: mean 1.50 ms, .*json\+"):
        read(fio(None))


K6_POINTS = [
    ("http_req_duration", 12.5, {"status": "200"}),
    ("http_req_blocked", 0.5, {"status": "200"}),
    ("http_req_duration", 30.25, {"status": "500"}),
]


def test_points_of_k6_as_json_and_as_csv(read: Read) -> None:
    lines = [
        json.dumps(
            {"type": "Metric", "data": {"type": "trend"}, "metric": "http_req_duration"},
            separators=(",", ":"),
        )
    ]
    lines += [
        json.dumps(
            {
                "metric": name,
                "type": "Point",
                "data": {"time": "2026-11-27T13:00:00Z", "value": value, "tags": tags},
            },
            separators=(",", ":"),
        )
        for name, value, tags in K6_POINTS
    ]
    rows = ["metric_name,timestamp,metric_value,check,status"]
    rows += [f"{name},1595325560,{value},,{tags['status']}" for name, value, tags in K6_POINTS]
    for text in ("\n".join(lines[1:] + lines[:1]) + "\n", "\n".join(lines) + "\n", "\n".join(rows) + "\n"):
        found = read(text, group="status")
        assert (found.title, found.values.tolist()) == ("http_req_duration (ms)", [12.5, 30.25])
        assert found.groups == ("200", "500")
        assert read(text, value="http_req_blocked").values.tolist() == [0.5]
        with pytest.raises(
            UsageError, match=r"has no metric 'x'. Choose one .*: http_req_blocked, http_req_duration"
        ):
            read(text, value="x")


def test_a_summary_of_k6_is_said_and_refused(read: Read) -> None:
    text = json.dumps({"metrics": {"http_req_duration": {"avg": 12.5, "p(95)": 40.0}}}, indent=1)
    with pytest.raises(UsageError, match=r"k6's summary, not single values \(avg 12.5, p\(95\) 40.0\)"):
        read(text)
