//! What the files under `/proc` say, as functions of their text.

/// The fields of `/proc/PID/stat` that are used here.
#[derive(Debug, PartialEq, Eq)]
pub struct Stat {
    /// The state letter.
    pub state: char,
    /// Pid of the parent.
    pub parent: u32,
    /// The process's own CPU time, user and system, in clock ticks.
    pub own_ticks: u64,
    /// CPU time of the children it collected, user and system, in clock ticks.
    pub reaped_ticks: u64,
    /// When it started, in clock ticks since the machine started.
    pub start_ticks: u64,
}

/// The lines of `/proc/stat` about CPUs, in clock ticks.
#[derive(Debug, PartialEq, Eq)]
pub struct Machine {
    /// user, nice, system, irq and softirq.
    pub busy_ticks: u64,
    /// Time a hypervisor took away.
    pub steal_ticks: u64,
    /// idle and iowait.
    pub idle_ticks: u64,
    /// CPUs online.
    pub cpus: u32,
}

/// Parses `/proc/PID/stat`.
pub fn stat(text: &str) -> Option<Stat> {
    // The name stands in parentheses and may itself hold spaces and parentheses: only what
    // follows the last one is safe to split.
    let (_, after_name) = text.rsplit_once(')')?;
    let fields: Vec<&str> = after_name.split_ascii_whitespace().collect();
    // proc(5) counts fields from 1 and the state, the first here, is its third.
    let ticks = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    Some(Stat {
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        own_ticks: ticks(14)?.checked_add(ticks(15)?)?,
        reaped_ticks: ticks(16)?.checked_add(ticks(17)?)?,
        start_ticks: ticks(22)?,
    })
}

/// The state letter in `/proc/PID/stat`, without looking at the rest.
pub fn state_letter(text: &[u8]) -> Option<u8> {
    let after_name = text.iter().rposition(|&byte| byte == b')')?;
    text.get(after_name + 2).copied()
}

/// Parses `/proc/PID/schedstat`: nanoseconds on a CPU, nanoseconds in a run queue, and how often
/// it was put on a CPU.
pub fn schedstat(text: &str) -> Option<[u64; 3]> {
    let mut fields = text.split_ascii_whitespace().map(|field| field.parse().ok());
    Some([fields.next()??, fields.next()??, fields.next()??])
}

/// The lines of `/proc/PID/sched` that are used here.
#[derive(Debug, PartialEq, Eq)]
pub struct Sched {
    /// When the scheduler last brought its CPU time up to date, on the scheduler's clock: for one
    /// that does not run, when it last did.
    pub ran_at_ns: u64,
    /// How often it was taken off a CPU.
    pub taken_off: u64,
}

/// Parses `/proc/PID/sched`, or as much of it as holds those lines.
pub fn sched(text: &[u8]) -> Option<Sched> {
    let value = |name: &str| {
        let line = text.split(|&byte| byte == b'\n').find(|l| l.starts_with(name.as_bytes()))?;
        std::str::from_utf8(line).ok()?.rsplit_once(':').map(|(_, value)| value.trim())
    };
    // Milliseconds with six digits behind the point.
    let (ms, ns) = value("se.exec_start ")?.split_once('.')?;
    let (ms, ns): (u64, u64) = (ms.parse().ok()?, ns.parse().ok()?);
    Some(Sched {
        ran_at_ns: ms.checked_mul(1_000_000)?.checked_add(ns)?,
        taken_off: value("nr_switches ")?.parse().ok()?,
    })
}

/// Parses `/proc/PID/task/TID/children`.
pub fn children(text: &[u8]) -> Vec<u32> {
    let words = text.split(|byte| !byte.is_ascii_digit());
    words.filter_map(|word| std::str::from_utf8(word).ok()?.parse().ok()).collect()
}

/// Parses `/proc/stat`.
pub fn machine(text: &str) -> Option<Machine> {
    let mut total = None;
    let mut cpus = 0;
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("cpu") => {
                let ticks: Option<Vec<u64>> = words.map(|word| word.parse().ok()).collect();
                total = Some(ticks?);
            }
            Some(name) if name.starts_with("cpu") => cpus += 1,
            _ => {}
        }
    }
    // guest and guest_nice follow, and are already contained in user and nice.
    let &[user, nice, system, idle, iowait, irq, softirq, steal, ..] = total?.as_slice() else {
        return None;
    };
    Some(Machine {
        busy_ticks: user + nice + system + irq + softirq,
        steal_ticks: steal,
        idle_ticks: idle + iowait,
        cpus,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STAT: &str = "4242 (postgres) S 4240 4242 4242 0 -1 4194560 1375 9876 3 5 120 45 678 90 \
                        20 0 1 0 55555 230000000 4000 18446744073709551615 1 1 0 0 0 0 0 16781312 \
                        134241 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n";

    #[test]
    fn stat_fields_are_counted_as_the_manual_counts_them() {
        let expected = Stat {
            state: 'S',
            parent: 4240,
            own_ticks: 165,
            reaped_ticks: 768,
            start_ticks: 55555,
        };
        assert_eq!(stat(STAT), Some(expected));
    }

    #[test]
    fn a_name_may_hold_spaces_and_parentheses() {
        let odd = STAT.replace("(postgres)", "(a (b) R 1 2) c)");
        assert_eq!(stat(&odd), stat(STAT));
        assert_eq!(state_letter(odd.as_bytes()), Some(b'S'));
    }

    #[test]
    fn a_cut_stat_is_nothing() {
        assert_eq!(stat(""), None);
        assert_eq!(stat("4242 (postgres) S 4240"), None);
        assert_eq!(state_letter(b""), None);
        assert_eq!(state_letter(b"4242 (postgres)"), None);
    }

    #[test]
    fn schedstat_gives_cpu_and_run_queue() {
        assert_eq!(schedstat("1234567890 987654 4321\n"), Some([1_234_567_890, 987_654, 4321]));
        assert_eq!(schedstat("12"), None);
    }

    #[test]
    fn sched_gives_when_a_process_ran_and_how_often_it_stopped() {
        let text = b"cat (3419, #threads: 1)\n\
            -------------------------------------------------------------------\n\
            se.exec_start                                :      12670357.025102\n\
            se.vruntime                                  :         28789.893684\n\
            nr_switches                                  :                   17\n\
            nr_volunt";
        let expected = Sched { ran_at_ns: 12_670_357_025_102, taken_off: 17 };
        assert_eq!(sched(text), Some(expected));
        assert_eq!(sched(&text[..200]), None);
        assert_eq!(sched(b""), None);
    }

    #[test]
    fn children_stand_in_one_line() {
        assert_eq!(children(b"11 12 4000 "), [11, 12, 4000]);
        assert!(children(b"").is_empty());
    }

    #[test]
    fn machine_times_count_guests_once_and_steal_apart() {
        let text = "cpu  100 10 50 1000 20 3 7 40 30 5\n\
                    cpu0 50 5 25 500 10 1 3 20 15 2\n\
                    cpu1 50 5 25 500 10 2 4 20 15 3\n\
                    intr 12345 0 0\nctxt 1\n";
        let expected = Machine { busy_ticks: 170, steal_ticks: 40, idle_ticks: 1020, cpus: 2 };
        assert_eq!(machine(text), Some(expected));
        assert_eq!(machine("intr 1\n"), None);
    }

    proptest! {
        #[test]
        fn no_text_breaks_a_parser(text in ".{0,300}", bytes in any::<Vec<u8>>()) {
            let _ = (stat(&text), schedstat(&text), machine(&text));
            let _ = (sched(&bytes), sched(text.as_bytes()), children(text.as_bytes()));
            let _ = (state_letter(&bytes), children(&bytes));
        }

        #[test]
        fn both_readings_of_a_stat_agree_on_the_letter(name in "[ -~]{0,15}", letter in "[A-Z]") {
            let text = STAT.replace("(postgres) S", &format!("({name}) {letter}"));
            let found = stat(&text).map(|stat| stat.state as u8);
            prop_assert_eq!(found, Some(letter.as_bytes()[0]));
            prop_assert_eq!(state_letter(text.as_bytes()), found);
        }

        #[test]
        fn numbers_come_back_as_they_were_written(
            cpu: u64, queue: u64, slices: u64, pids in prop::collection::vec(any::<u32>(), 0..50),
        ) {
            prop_assert_eq!(schedstat(&format!("{cpu} {queue} {slices}\n")), Some([cpu, queue, slices]));
            let list: Vec<String> = pids.iter().map(u32::to_string).collect();
            prop_assert_eq!(children(list.join(" ").as_bytes()), pids);
        }
    }
}
