//! What is taken to be the same everywhere, and not read from a run.

/// CPU time is at least so much, in seconds.
pub const LEAST_S: f64 = 1e-7;
/// Of the CPU time of a wait, going to sleep and waking up.
pub const WAKE_SHARE: f64 = 0.70;
/// Of the CPU time of a wait, what the waker spends.
pub const POST_SHARE: f64 = 0.30;
/// The least and the largest `cpu_factor` that is forecast.
pub const CPU_FACTORS: (f64, f64) = (0.25, 2.0);
/// Coefficient of variation of the CPU time of a transaction of equal statements.
pub(crate) const CPU_CV: f64 = 0.5;
/// How much later than asked for a sleep ends: prctl(2), PR_SET_TIMERSLACK.
pub(crate) const TIMER_SLACK_S: f64 = 50e-6;

// Linux's scheduler (kernel/sched/fair.c) looks with the tick, at 250 Hz, whether a task has used up its request
// and whether a CPU that idles can take over work.
pub(crate) const QUANTUM_S: f64 = 4e-3;
pub(crate) const BALANCE_S: f64 = 4e-3;
// From waking to running on a CPU that idles. After 0.2 ms (KVM, halt polling) a virtual one leaves the host's CPU,
// and the scheduler sends nobody there who was not there last.
pub(crate) const IDLE_EXIT_S: f64 = 30e-6;
pub(crate) const HALT_EXIT_S: f64 = 30e-6;
pub(crate) const HALT_AFTER_S: f64 = 0.2e-3;
// While less than this share of the CPUs is used, a client's server comes to the client's CPU though its own idles
// (traces: 7 to 9 of 10 do at 30 to 35 % of use, 6 at 46, 2 at 50, none from 55 on).
pub(crate) const FETCH_BELOW: f64 = 0.40;
// A virtual disk's interrupt where somebody runs: a loop on the CPU that is told lost so long, twice a flush.
pub(crate) const INTERRUPT_S: f64 = 20e-6;
// A flush waits for the file system's write into the disk's cache and then for the disk's own flush; the write took
// so long (ext4 on a virtual disk).
pub(crate) const DEVICE_WRITE_S: f64 = 36e-6;

// PostgreSQL's defaults. Settings with a commit delay have this number of siblings whatever the server's is
// (`redolab.dialect.postgres`; a test compares the two).
pub(crate) const COMMIT_SIBLINGS: u32 = 5;
/// How long the WAL writer sleeps between two looks at the log, in seconds.
pub const WAL_WRITER_DELAY_S: f64 = 0.2;
// How much log makes it flush before its time.
pub(crate) const WAL_WRITER_FLUSH_AFTER_BYTES: u32 = 1 << 20;

/// How long InnoDB leaves a log for which no commit waits: innodb_flush_log_at_timeout, by default.
pub(crate) const INNODB_FLUSH_INTERVAL_S: f64 = 1.0;

/// Threads of redolab-load's client at the most.
const MOST_CLIENT_THREADS: u8 = 8;

/// Threads of redolab-load's client with so many CPUs.
#[must_use]
#[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "at most 8")]
pub fn client_threads(cpus: f64) -> u32 {
    cpus.ceil().min(f64::from(MOST_CLIENT_THREADS)) as u32
}

/// Statements that a client sends for a commit: one row commits by itself.
#[must_use]
pub fn statements_of(rows_per_commit: i64) -> i64 {
    if rows_per_commit == 1 { 1 } else { rows_per_commit.saturating_add(2) }
}

/// The use of the CPUs, 0 to 1, up to which Linux looks for an idle one for a process that is woken up.
///
/// Source: kernel/sched/fair.c, `update_idle_cpu_scan`: of n CPUs it looks at n (1 - (1.17 use)^2), in whole ones.
pub(crate) fn spread_below(cpus: f64) -> f64 {
    (1.0 - 1.0 / cpus.ceil()).sqrt() / 1.17
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_a_thread_for_each_cpu_up_to_eight() {
        let threads = [0.5, 1.9, 8.0, 64.0].map(client_threads);
        assert_eq!(threads, [1, 2, 8, 8]);
        assert_eq!([1, 2, 32].map(statements_of), [1, 4, 34]);
    }

    #[test]
    fn of_one_cpu_nothing_is_looked_for() {
        assert!(spread_below(1.0).abs() < 1e-15);
        assert!((spread_below(1.9) - 0.5_f64.sqrt() / 1.17).abs() < 1e-15);
    }
}
