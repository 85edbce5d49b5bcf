"""AWR and Statspack reports in plain text become tables; every figure here is made up."""

from __future__ import annotations

import random
import time

import pytest

from redolab.importers.grid import Grid
from redolab.importers.text_grids import text_grids

CLOSING = "          -------------------------------------------------------------"
AWR_CLOSING = "                          ------------------------------------------------------"
AWR = f"""\
WORKLOAD REPOSITORY report for

DB Name         DB Id    Unique Name DB Role          Edition Release    RAC CDB
------------ ----------- ----------- ---------------- ------- ---------- --- ---
ORDERS        1122334455 orders      PRIMARY          EE      19.0.0.0.0 NO  NO

Instance     Inst Num Startup Time
------------ -------- ---------------
orders1             1 03-Feb-25 07:15

Host Name        Platform                         CPUs Cores Sockets Memory(GB)
---------------- -------------------------------- ---- ----- ------- ----------
shop-db.example  Linux x86 64-bit                   16     8       2      62.50

              Snap Id      Snap Time      Sessions Curs/Sess Instances
            --------- ------------------- -------- --------- ---------
Begin Snap:       901 04-Feb-25 09:00:12       144       2.5         1
  End Snap:       902 04-Feb-25 09:30:15       151       2.6         1
   Elapsed:               30.05 (mins)
   DB Time:              120.42 (mins)

Load Profile                    Per Second   Per Transaction  Per Exec  Per Call
~~~~~~~~~~~~~~~            ---------------   --------------- --------- ---------
             DB Time(s):               4.0               0.1      0.02      0.01
      Redo size (bytes):       3,141,592.6       2,718,281.8
           Transactions:             812.5

Instance Efficiency Percentages (Target 100%)
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
            Buffer Nowait %:   99.98       Redo NoWait %:   99.99

Top 10 Foreground Events by Total Wait Time
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
                                           Total Wait       Avg   % DB Wait
Event                                Waits Time (sec)      Wait   time Class
------------------------------ ----------- ---------- --------- ------ --------
log file sync                    1,464,210       2890    1.97ms   40.0 Commit
DB CPU                                         2210.5             30.6
db file sequential read             77,001      150.2    1.95ms    2.1 User I/O


Wait Classes by Total Wait Time
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
                                                          Avg             Avg
                                        Total Wait       Wait   % DB   Active
Wait Class                  Waits       Time (sec)       Time   time Sessions
---------------- ---------------- ---------------- ---------- ------ --------
Commit                  1,464,210            2,890     1.97ms   40.0      1.6

Time Model Statistics                      DB/Inst: ORDERS/orders1  Snaps: 901-902
-> DB Time represents total time in user calls
-> Ordered by % of DB time in descending order, followed by Statistic Name

                                                                % of  % of Total
Statistic Name                                       Time (s) DB Time   CPU Time
------------------------------------------ ------------------ ------- ----------
sql execute elapsed time                              5,120.7    70.9
DB CPU                                                2,210.5    30.6       88.1
DB time                                               7,225.2
{AWR_CLOSING}

Foreground Wait Events                     DB/Inst: ORDERS/orders1  Snaps: 901-902
-> %Timeouts: value of 0 indicates value was < .5%.  Value of null is truly 0

                                                Total
                                       %Time     Wait              Waits   % DB
Event                            Waits -outs Time (s)  Avg wait     /txn   time
-------------------------- ----------- ----- -------- --------- -------- ------
log file sync                1,464,210          2,890    1.97ms      1.0   40.0
enq: TX - row lock content          12     5        9  750.00ms      0.0     .1
{AWR_CLOSING}

Wait Event Histogram                       DB/Inst: ORDERS/orders1  Snaps: 901-902
-> Units for Total Waits column: K is 1000, M is 1000000, G is 1000000000

                                                    % of Waits
                                 -----------------------------------------------
                           Total
Event                      Waits  <1ms  <2ms  <4ms  <8ms <16ms <32ms  <=1s   >1s
-------------------------- ----- ----- ----- ----- ----- ----- ----- ----- -----
log file sync              1464K  11.5  60.0  28.0    .4    .1    .0    .0
LGWR wait for redo copy      950 100.0
{AWR_CLOSING}

Wait Event Histogram Detail (64 msec to 2 sec)DB/Inst: ORDERS/orders1  Snaps: 90
-> Only events with wait times above 64 ms

                                                 % of Total Waits
                                 -----------------------------------------------
                           Waits
                           64ms
Event                      to 2s <32ms <64ms <1/8s <1/4s <1/2s   <1s   <2s  >=2s
-------------------------- ----- ----- ----- ----- ----- ----- ----- ----- -----
log file sync                 17 100.0    .0    .0
{AWR_CLOSING}

SQL ordered by Sharable Memory             DB/Inst: ORDERS/orders1  Snaps: 901-902

                  No data exists for this section of the report.
{AWR_CLOSING}

Key Instance Activity Stats                DB/Inst: ORDERS/orders1  Snaps: 901-902
-> Ordered by statistic name

Statistic                                     Total     per Second     per Trans
-------------------------------- ------------------ -------------- -------------
redo size                             5,664,291,457    3,141,592.6   2,718,281.8
{AWR_CLOSING}

Instance Activity Stats - Absolute ValuesDB/Inst: ORDERS/orders1  Snaps: 901-902
-> Statistics with absolute values (should not be diffed)

Statistic                            Begin Value       End Value
-------------------------------- --------------- ---------------
logons current                               144             151
{AWR_CLOSING}

init.ora Parameters                        DB/Inst: ORDERS/orders1  Snaps: 901-902
-> if IP/Public/Source at End snap is different a '*' is displayed

                                                                End value
Parameter Name                Begin value                       (if different)
----------------------------- --------------------------------- --------------
commit_logging                BATCH                             IMMEDIATE
db_block_size                 8192
local_listener                 (ADDRESS=(PROTOCOL=TCP)(HOST=shop
{AWR_CLOSING}

End of Report
"""
STATSPACK = f"""\
STATSPACK report for

Database    DB Id    Instance     Inst Num  Startup Time   Release     RAC
~~~~~~~~ ----------- ------------ -------- --------------- ----------- ---
          1122334455 orders1             1 03-Feb-25 07:15 19.0.0.0.0  NO

Host Name             Platform                CPUs Cores Sockets   Memory (G)
~~~~ ---------------- ---------------------- ----- ----- ------- ------------
     shop-db.example  Linux x86 64-bit          16     8       2         62.5

Snapshot       Snap Id     Snap Time      Sessions Curs/Sess Comment
~~~~~~~~    ---------- ------------------ -------- --------- ------------------
Begin Snap:         11 04-Feb-25 09:00:12      144       2.5 before the load
  End Snap:         12 04-Feb-25 09:30:15      151       2.6
   Elapsed:      30.05 (mins) Av Act Sess:       4.0
   DB time:     120.42 (mins)      DB CPU:      36.84 (mins)

Cache Sizes            Begin        End
~~~~~~~~~~~       ---------- ----------
    Buffer Cache:     4,096M              Std Block Size:         8K
     Shared Pool:     1,024M                  Log Buffer:    13,312K

Load Profile              Per Second    Per Transaction    Per Exec    Per Call
~~~~~~~~~~~~      ------------------  ----------------- ----------- -----------
      DB time(s):                4.0                0.1        0.02        0.01
       Redo size:        3,141,592.6        2,718,281.8
    Transactions:              812.5

Instance Efficiency Indicators
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
            Buffer Nowait %:   99.98       Redo NoWait %:   99.99

Top 5 Timed Events                                                    Avg %Total
~~~~~~~~~~~~~~~~~~                                                   wait   Call
Event                                            Waits    Time (s)   (ms)   Time
----------------------------------------- ------------ ----------- ------ ------
log file sync                                1,464,210       2,890      2   40.0
CPU time                                                     2,210          30.6
{CLOSING}
Host CPU  (CPUs: 16  Cores: 8  Sockets: 2)
~~~~~~~~              Load Average
                      Begin     End      User  System    Idle     WIO     WCPU
                    ------- -------   ------- ------- ------- ------- --------
                       1.50    2.25     21.10    5.20   73.70    3.10

Time Model System Stats  DB/Inst: ORDERS/orders1  Snaps: 11-12
-> Ordered by % of DB time desc, Statistic name

Statistic                                       Time (s) % DB time
----------------------------------- -------------------- ---------
sql execute elapsed time                         5,120.7      70.9
DB time                                          7,225.2
{CLOSING}
Wait Events (fg and bg) DB/Inst: ORDERS/orders1  Snaps: 11-12
-> ordered by Total Wait Time desc, Waits desc (idle events last)

                                                             Avg          %Total
                                         %Tim Total Wait   wait    Waits   Call
Event                               Waits  out   Time (s)   (ms)     /txn   Time
---------------------------- ------------ ---- ---------- ------ -------- ------
log file sync                   1,464,210    0      2,890      2      1.0   40.0
{CLOSING}
Wait Event Histogram  DB/Inst: ORDERS/orders1  Snaps: 11-12
-> Total Waits - units: K is 1000, M is 1000000, G is 1000000000
-> Ordered by Event (idle events last)

                           Total ----------------- % of Waits ------------------
Event                      Waits  <1ms  <2ms  <4ms  <8ms <16ms <32ms  <=1s   >1s
-------------------------- ----- ----- ----- ----- ----- ----- ----- ----- -----
log file parallel write    1398K  95.0   4.0   1.0
log file sync              1464K  11.5  60.0  28.0    .4    .1    .0    .0
SQL*Net message to client  950   100.0
{CLOSING}
Instance Activity Stats  DB/Inst: ORDERS/orders1  Snaps: 11-12

Statistic                                      Total     per Second    per Trans
--------------------------------- ------------------ -------------- ------------
redo size                              5,664,291,457    3,141,592.6  2,718,281.8
\fInstance Activity Stats  DB/Inst: ORDERS/orders1  Snaps: 11-12

Statistic                                      Total     per Second    per Trans
--------------------------------- ------------------ -------------- ------------
user commits                               1,464,000          812.0          1.0
{CLOSING}
Instance Activity Stats  DB/Inst: ORDERS/orders1  Snaps: 11-12
-> Statistics with absolute values (should not be diffed)

Statistic                             Begin Value       End Value
--------------------------------- --------------- ---------------
logons current                                144             151
{CLOSING}
Instance Activity Stats  DB/Inst: ORDERS/orders1  Snaps: 11-12
-> Statistics identified by '(derived)' come from sources other than SYSSTAT

Statistic                                      Total  per Hour
--------------------------------- ------------------ ---------
log switches (derived)                             6     11.98
{CLOSING}
OS Statistics  DB/Inst: ORDERS/orders1  Snaps: 11-12
-> ordered by statistic type (CPU use, Virtual Memory, Hardware Config), Name

Statistic                                  Total
------------------------- ----------------------
BUSY_TIME                                398,110
NUM_CPUS                                      16
{CLOSING}
End of Report
"""
OLD_STATSPACK = f"""\
STATSPACK report for

DB Name         DB Id    Instance     Inst Num Release     Cluster Host
------------ ----------- ------------ -------- ----------- ------- ------------
ORDERS        1122334455 orders1             1 9.2.0.8.0   NO      shop-db

              Snap Id     Snap Time      Sessions Curs/Sess Comment
            --------- ------------------ -------- --------- -------------------
Begin Snap:        11 04-Feb-2005 09:00:12      144       2.5
  End Snap:        12 04-Feb-2005 09:30:15      151       2.6
   Elapsed:               30.05 (mins)

Cache Sizes (end)
~~~~~~~~~~~~~~~~~
               Buffer Cache:     4,096M      Std Block Size:         8K

Load Profile
~~~~~~~~~~~~                            Per Second       Per Transaction
                                   ---------------       ---------------
                  Redo size:          3,141,592.65          2,718,281.83
              Logical reads:      9,876,543,210.12             10,200.50
               Transactions:                812.50

  % Blocks changed per Read:    1.25    Recursive Call %:    20.50

Top 5 Timed Events
~~~~~~~~~~~~~~~~~~                                                     % Total
Event                                               Waits    Time (s) Ela Time
-------------------------------------------- ------------ ----------- --------
log file sync                                   1,464,210       2,890    56.67
CPU time                                                        2,210    43.33
{CLOSING}
Wait Events for DB: ORDERS  Instance: orders1  Snaps: 11 -12
-> s  - second
-> ordered by wait time desc, waits desc (idle events last)

                                                                   Avg
                                                     Total Wait   wait    Waits
Event                               Waits   Timeouts   Time (s)   (ms)     /txn
---------------------------- ------------ ---------- ---------- ------ --------
log file sync                   1,464,210         44      2,890      2      1.0
\fWait Events for DB: ORDERS  Instance: orders1  Snaps: 11 -12
-> s  - second
-> ordered by wait time desc, waits desc (idle events last)

                                                                   Avg
                                                     Total Wait   wait    Waits
Event                               Waits   Timeouts   Time (s)   (ms)     /txn
---------------------------- ------------ ---------- ---------- ------ --------
latch free                             12          0          0      1      0.0
{CLOSING}
Background Wait Events for DB: ORDERS  Instance: orders1  Snaps: 11 -12
-> ordered by wait time desc, waits desc (idle events last)

                                                                   Avg
                                                     Total Wait   wait    Waits
Event                               Waits   Timeouts   Time (s)   (ms)     /txn
---------------------------- ------------ ---------- ---------- ------ --------
log file parallel write         1,398,000          0      1,050      1      1.0
{CLOSING}
End of Report
"""
SECTION = "Wait Events  DB/Inst: ORDERS/orders1  Snaps: 1-2\n\n"
SMALL = f"{SECTION}Event           Waits  Time (s)\n------------ -------- ---------\n"
REPORTS = pytest.mark.parametrize("report", [AWR, STATSPACK, OLD_STATSPACK], ids=["AWR", "Statspack", "9.2"])


def _titled(report: str, title: str) -> list[Grid]:
    return [grid for grid in text_grids(report) if grid.title == title]


def _only(report: str, title: str) -> Grid:
    (grid,) = _titled(report, title)
    return grid


def _row(*cells: str) -> tuple[tuple[str, ...], ...]:
    """The rows of SMALL with one more line."""
    (grid,) = text_grids(SMALL + "\n".join(cells) + "\n")
    return grid.rows


def test_the_header_of_an_awr_report() -> None:
    database, instance, host = _titled(AWR, "workload repository report for")
    assert dict(zip(database.headings, database.rows[0], strict=True)) == {
        "DB Name": "ORDERS",
        "DB Id": "1122334455",
        "Unique Name": "orders",
        "DB Role": "PRIMARY",
        "Edition": "EE",
        "Release": "19.0.0.0.0",
        "RAC": "NO",
        "CDB": "NO",
    }
    assert instance.headings == ("Instance", "Inst Num", "Startup Time")
    assert instance.rows == (("orders1", "1", "03-Feb-25 07:15"),)
    assert host.headings == ("Host Name", "Platform", "CPUs", "Cores", "Sockets", "Memory(GB)")
    assert host.rows == (("shop-db.example", "Linux x86 64-bit", "16", "8", "2", "62.50"),)


@pytest.mark.parametrize(
    ("report", "first", "year", "time_label"),
    [(AWR, "901", "25", "DB Time:"), (STATSPACK, "11", "25", "DB time:"), (OLD_STATSPACK, "11", "2005", "")],
)
def test_the_snapshots(report: str, first: str, year: str, time_label: str) -> None:
    grid = _only(report, "snapshots")
    assert grid.headings == ("", "Snap Id", "Snap Time", "Sessions", "Curs/Sess")
    assert grid.rows[0] == ("Begin Snap:", first, f"04-Feb-{year} 09:00:12", "144", "2.5")
    assert grid.rows[1][0] == "End Snap:"
    assert grid.rows[1][2:] == (f"04-Feb-{year} 09:30:15", "151", "2.6")
    assert grid.rows[2] == ("Elapsed:", "", "30.05 (mins)", "", "")
    assert grid.rows[3:] == (((time_label, "", "120.42 (mins)", "", ""),) if time_label else ())


def test_the_load_profile() -> None:
    grid = _only(AWR, "load profile")
    assert grid.headings == ("", "Per Second", "Per Transaction", "Per Exec", "Per Call")
    assert grid.rows == (
        ("DB Time(s):", "4.0", "0.1", "0.02", "0.01"),
        ("Redo size (bytes):", "3,141,592.6", "2,718,281.8", "", ""),
        ("Transactions:", "812.5", "", "", ""),
    )
    statspack = _only(STATSPACK, "load profile")
    assert statspack.headings == grid.headings
    assert statspack.rows[1] == ("Redo size:", "3,141,592.6", "2,718,281.8", "", "")
    old = _only(OLD_STATSPACK, "load profile")
    assert old.headings == ("", "Per Second", "Per Transaction")
    assert old.rows == (
        ("Redo size:", "3,141,592.65", "2,718,281.83"),
        ("Logical reads:", "9,876,543,210.12", "10,200.50"),
        ("Transactions:", "812.50", ""),
    )


def test_the_top_events() -> None:
    grid = _only(AWR, "top 10 foreground events by total wait time")
    assert grid.headings == ("Event", "Waits", "Total Wait Time (sec)", "Avg Wait", "% DB time", "Wait Class")
    assert grid.rows == (
        ("log file sync", "1,464,210", "2890", "1.97ms", "40.0", "Commit"),
        ("DB CPU", "", "2210.5", "", "30.6", ""),
        ("db file sequential read", "77,001", "150.2", "1.95ms", "2.1", "User I/O"),
    )
    statspack = _only(STATSPACK, "top 5 timed events")
    assert statspack.headings == ("Event", "Waits", "Time (s)", "Avg wait (ms)", "%Total Call Time")
    assert statspack.rows == (
        ("log file sync", "1,464,210", "2,890", "2", "40.0"),
        ("CPU time", "", "2,210", "", "30.6"),
    )
    old = _only(OLD_STATSPACK, "top 5 timed events")
    assert old.headings == ("Event", "Waits", "Time (s)", "% Total Ela Time")
    assert old.rows[1] == ("CPU time", "", "2,210", "43.33")


def test_the_wait_classes_are_no_events() -> None:
    grid = _only(AWR, "wait classes by total wait time")
    assert grid.headings[2:] == ("Total Wait Time (sec)", "Avg Wait Time", "% DB time", "Avg Active Sessions")
    assert grid.rows == (("Commit", "1,464,210", "2,890", "1.97ms", "40.0", "1.6"),)


def test_the_time_model() -> None:
    grid = _only(AWR, "time model statistics")
    assert grid.headings == ("Statistic Name", "Time (s)", "% of DB Time", "% of Total CPU Time")
    assert grid.rows[1:] == (("DB CPU", "2,210.5", "30.6", "88.1"), ("DB time", "7,225.2", "", ""))
    statspack = _only(STATSPACK, "time model system stats")
    assert statspack.headings == ("Statistic", "Time (s)", "% DB time")
    assert statspack.rows == (("sql execute elapsed time", "5,120.7", "70.9"), ("DB time", "7,225.2", ""))


def test_the_wait_events() -> None:
    grid = _only(AWR, "foreground wait events")
    assert grid.headings == (
        *("Event", "Waits", "%Time -outs", "Total Wait Time (s)", "Avg wait", "Waits /txn", "% DB time"),
    )
    assert grid.rows[1] == ("enq: TX - row lock content", "12", "5", "9", "750.00ms", "0.0", ".1")
    old = _only(OLD_STATSPACK, "wait events")
    assert old.headings[3:] == ("Total Wait Time (s)", "Avg wait (ms)", "Waits /txn")
    assert [row[0] for row in old.rows] == ["log file sync", "latch free"]
    assert _only(OLD_STATSPACK, "background wait events").rows[0][3] == "1,050"
    assert _only(STATSPACK, "wait events (fg and bg)").rows == (
        ("log file sync", "1,464,210", "0", "2,890", "2", "1.0", "40.0"),
    )


@pytest.mark.parametrize("report", [AWR, STATSPACK])
def test_the_histogram(report: str) -> None:
    grid = _only(report, "wait event histogram")
    assert grid.headings == (
        *("Event", "Total Waits", "<1ms", "<2ms", "<4ms", "<8ms", "<16ms", "<32ms", "<=1s", ">1s"),
    )
    assert ("log file sync", "1464K", "11.5", "60.0", "28.0", ".4", ".1", ".0", ".0", "") in grid.rows
    assert grid.rows[-1][1:4] == ("950", "100.0", "")


def test_a_part_of_the_histogram_has_its_title() -> None:
    grid = _only(AWR, "wait event histogram detail (64 msec to 2 sec)")
    assert grid.headings[:3] == ("Event", "Waits 64ms to 2s", "<32ms")
    assert grid.rows[0][:5] == ("log file sync", "17", "100.0", ".0", ".0")


def test_tables_of_the_same_title_are_apart_and_pages_together() -> None:
    totals, absolute, derived = _titled(STATSPACK, "instance activity stats")
    assert totals.headings == ("Statistic", "Total", "per Second", "per Trans")
    assert totals.rows == (
        ("redo size", "5,664,291,457", "3,141,592.6", "2,718,281.8"),
        ("user commits", "1,464,000", "812.0", "1.0"),
    )
    assert absolute.headings == ("Statistic", "Begin Value", "End Value")
    assert derived.rows == (("log switches (derived)", "6", "11.98"),)
    assert _only(AWR, "key instance activity stats").rows[0][1] == "5,664,291,457"
    assert _only(AWR, "instance activity stats - absolute values").rows == (("logons current", "144", "151"),)
    assert _only(STATSPACK, "os statistics").rows == (("BUSY_TIME", "398,110"), ("NUM_CPUS", "16"))


def test_the_parameters() -> None:
    grid = _only(AWR, "init.ora parameters")
    assert grid.headings == ("Parameter Name", "Begin value", "End value (if different)")
    assert grid.rows == (
        ("commit_logging", "BATCH", "IMMEDIATE"),
        ("db_block_size", "8192", ""),
        ("local_listener", "(ADDRESS=(PROTOCOL=TCP)(HOST=shop", ""),
    )


def test_the_header_of_a_statspack_report() -> None:
    database, host = _titled(STATSPACK, "statspack report for")
    assert database.headings == (
        *("Database", "DB Id", "Instance", "Inst Num", "Startup Time", "Release", "RAC"),
    )
    assert database.rows == (("", "1122334455", "orders1", "1", "03-Feb-25 07:15", "19.0.0.0.0", "NO"),)
    assert host.headings == ("Host", "Name", "Platform", "CPUs", "Cores", "Sockets", "Memory (G)")
    assert host.rows == (("", "shop-db.example", "Linux x86 64-bit", "16", "8", "2", "62.5"),)
    assert _only(OLD_STATSPACK, "statspack report for").rows[0][4:] == ("9.2.0.8.0", "NO", "shop-db")


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("Host  Name:   shop-db   Num CPUs:    4   Phys Memory (MB):   16,000", ("shop-db", "4")),
        ("Host  Name:   shop-db   Num CPUs:", ("shop-db", "")),
    ],
)
def test_the_host_of_statspack_10(line: str, cells: tuple[str, str]) -> None:
    grid = _only(f"STATSPACK report for\n\n{line}\n~~~~\n\n", "host")
    assert (grid.headings, grid.rows) == (("Host Name", "CPUs"), (cells,))


def test_a_section_without_data_is_no_table() -> None:
    assert not any("sharable" in grid.title or "efficiency" in grid.title for grid in text_grids(AWR))


def test_pages_of_the_terminal_are_passed_over() -> None:
    lines = AWR.splitlines()
    for place in range(len(lines) - 3, 3, -17):
        lines[place:place] = ["", "OUTPUT"]
    assert text_grids("\n".join(lines)) == text_grids(AWR)
    underlined = AWR.replace("\nlog file sync", f"\n\nOUTPUT\n{'-' * 80}\nlog file sync")
    assert underlined != AWR
    assert text_grids(underlined) == text_grids(AWR)


@REPORTS
def test_the_ends_of_lines_and_their_blanks_do_not_matter(report: str) -> None:
    expected = text_grids(report)
    assert text_grids(report.replace("\n", "\r\n")) == expected
    assert text_grids(report.replace("\n", "   \n")) == expected
    assert text_grids(report.replace(" ", "\xa0")) == expected


def test_tabs_are_expanded() -> None:
    assert _row("log file\t   12\t      3") == (("log file", "12", "3"),)


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("log file sync     12        34", ("log file sync", "12", "34")),
        ("log filesystem_a       7         3", ("log filesystem_a", "", "7 3")),
        ("sync      123,456,789         3", ("sync", "123,456,789", "3")),
        ("log file 1234,567,890         3", ("log file", "1234,567,890", "3")),
        ("log file sync_of_all          3", ("####", "####", "3")),
        ("log file sync_of_al           3", ("log file sync_of_al", "", "3")),
        ("abcdefghijklmnopqrstu         3", ("####", "####", "3")),
        ("abcdefghijklmno 7654321       3", ("abcdefghijklmno", "####", "####")),
        ("sync                7 2,345,678,901", ("sync", "7", "2,345,678,901")),
        ("sync                71234567890123", ("sync", "####", "####")),
        ("12345678901234567890123456789012", ("####", "####", "####")),
        ("sync         123456789012345678", ("sync", "####", "####")),
        ("sync   123456789012345678901234", ("####", "####", "####")),
    ],
)
def test_wide_words_stay_whole(line: str, cells: tuple[str, ...]) -> None:
    (row,) = _row(line)
    words = line.split()
    assert all(word in words for cell in row if cell != "####" for word in cell.split())
    assert row == cells


def test_rows_go_on_after_the_blank_line_of_a_page() -> None:
    assert _row("log file sync     12        34", "", "latch free         1         2") == (
        ("log file sync", "12", "34"),
        ("latch free", "1", "2"),
    )
    assert _row("log file sync     12        34", "", "Some words", "and more", "", "") == (
        ("log file sync", "12", "34"),
    )
    assert _row("", "log file sync     12        34", "", "", "latch free         1         2") == (
        ("log file sync", "12", "34"),
    )


def test_a_page_may_break_between_headings_and_dashes() -> None:
    broken = AWR.replace("\n---", "\n\n---")
    assert broken != AWR
    assert text_grids(broken) == text_grids(AWR)


def test_lines_and_cells_have_a_limit() -> None:
    (grid,) = text_grids(SMALL + "x" * 5_000 + "\n" + "word " * 1_000 + "\n")
    assert max(len(cell) for row in grid.rows for cell in row) <= 200
    many = text_grids(SECTION + "ab  " * 240 + "\n" + "--- " * 240 + "\n" + "1   " * 240)
    assert [len(grid.headings) for grid in many] == [64]


def test_dashes_in_texts_are_no_tables() -> None:
    assert text_grids(f"{SECTION}select 1\n-- a comment\n--\n- -\n-----\n\n{'-' * 80}\n") == []
    assert text_grids("") == []
    assert text_grids("\n\n--- ---\n1   2\n") == []


@REPORTS
def test_a_report_that_was_cut_off_has_the_tables_before(report: str) -> None:
    whole = text_grids(report)
    for end in range(0, len(report), 97):
        grids = text_grids(report[:end])
        assert len(grids) <= len(whole)
        for grid, expected in list(zip(grids, whole, strict=False))[:-1]:
            assert grid == expected


@REPORTS
def test_nothing_that_is_changed_in_a_report_raises(report: str) -> None:
    order = random.Random(20_250_204)
    alphabet = "-~ \n\f\t:()9aä\xa0\x00\u2028"
    for _ in range(150):
        text = list(report)
        for _ in range(order.randrange(1, 200)):
            place = order.randrange(len(text))
            how = order.randrange(3)
            if how == 0:
                text[place] = order.choice(alphabet)
            elif how == 1:
                del text[place : place + order.randrange(1, 90)]
            else:
                text[place:place] = order.choice(alphabet) * order.randrange(1, 90)
        for grid in text_grids("".join(text)):
            assert grid.title == " ".join(grid.title.split()).lower()
            assert grid.rows
            for row in (grid.headings, *grid.rows):
                assert len(row) == len(grid.headings)
                assert all(cell == " ".join(cell.split()) and len(cell) <= 200 for cell in row)


@pytest.mark.parametrize(
    "text",
    [
        STATSPACK * 60,
        SMALL + "log file sync     12        34\n" * 15_000,
        (SMALL + "log file sync     12        34\n") * 4_000,
        ("a b " * 250 + "\n" + "--- " * 250 + "\n") * 250,
        ("-" * 999 + " \n") * 500,
        ("~" * 999 + "\n") * 500,
        "--- x " * 80_000,
        ("--- x " * 160 + "\n--- ---\n") * 500,
        "\n" * 500_000,
        "\t" * 500_000,
        "OUTPUT\n" * 70_000,
        ("title\n~~~~\n" * 50 + "\n") * 800,
    ],
)
def test_half_a_megabyte_is_read_in_time(text: str) -> None:
    begin = time.process_time()
    text_grids(text)
    assert time.process_time() - begin < 2.0


HOST = (
    "~~~~ ---------------- ---------------------- ----- ----- ------- ------------",
    "     shop-db.example  Linux x86 64-bit          22    11       2        126.0",
)
NAMES = ("Host", "Name", "Platform", "CPUs", "Cores", "Sockets", "Memory (G)")


@pytest.mark.parametrize(
    "heads",
    [
        ("Host                             Name             Platform                CPUs",
         "Cores Sockets   Memory (G)"),
        ("Host                             Name             Platform",
         "CPUs Cores Sockets   Memory (G)"),
        ("Host Name             Platform                CPUs Cores Sockets", "Memory (G)"),
        ("Host                             Name             Platform                CPUs Cores Sockets",
         "   Memory (G)"),
        ("Host                             Name             Platform                CPUs Cores Sockets "
         "  Memory (G)",),
    ],
)  # fmt: skip
def test_headings_that_went_on_below_keep_their_columns(heads: tuple[str, ...]) -> None:
    (grid,) = text_grids("\n".join(("STATSPACK report for", "", *heads, *HOST)))
    assert grid.headings == NAMES
    assert grid.rows == (("", "shop-db.example", "Linux x86 64-bit", "22", "11", "2", "126.0"),)


def test_headings_that_belong_to_no_column_for_sure_are_none() -> None:
    heads = ("Host                             Name             Platform", "CPUs Cores Sockets")
    (grid,) = text_grids("\n".join(("STATSPACK report for", "", *heads, *HOST)))
    assert set(grid.headings) == {"####"}


def test_the_last_heading_alone_may_go_on_below() -> None:
    lines = AWR.splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("Statistic Name"))
    before = lines[place - 1]
    lines[place - 1 : place + 1] = [
        before[: before.index("% of Total")],
        lines[place][:-10].rstrip(),
        "CPU_Time",
    ]
    (grid,) = _titled("\n".join(lines), "time model statistics")
    assert grid.headings == ("Statistic Name", "Time (s)", "% of DB Time", "CPU_Time")
    assert grid.rows == _only(AWR, "time model statistics").rows


@pytest.mark.parametrize("blank", ["", "\n"])
def test_the_load_profile_may_follow_a_table_without_a_blank_line(blank: str) -> None:
    findings = """\
Top ADDM Findings by Average Active Sessions
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
                                           Avg active  Percent active
                                          sessions of        sessions
Finding Name                                 the task      of finding
---------------------------------------- ------------ ---------------
Top SQL Statements                               1.05           98.66
Commits and Rollbacks                             .50           12.00
"""
    assert text_grids(AWR.replace("Load Profile  ", f"{findings}{blank}Load Profile  ")) == [
        *text_grids(AWR)[:4],
        *text_grids(findings),
        *text_grids(AWR)[4:],
    ]


def test_the_load_profile_may_follow_the_snapshots_without_a_blank_line() -> None:
    joined = AWR.replace("(mins)\n\nLoad Profile", "(mins)\nLoad Profile")
    assert joined != AWR
    assert text_grids(joined) == text_grids(AWR)
