//! The CPU account of one process or thread, and the state letters of many.

use super::procfs::read_stat;

/// One process of a server, or one of its threads, with its CPU account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Process id.
    pub pid: u32,
    /// What the process is: "postmaster" for the server's first process, otherwise taken from
    /// the title it shows, such as "client backend", "walwriter" or "io worker". "ended" is a
    /// process that ended and whose account the postmaster has not collected yet, "starting" one
    /// that has not given itself a title yet.
    pub kind: String,
    /// When the process started, in clock ticks since the machine started.
    pub start_ticks: u64,
    /// Time spent on a CPU, in nanoseconds.
    pub cpu_ns: u64,
    /// Time spent ready to run but waiting for a CPU, in nanoseconds.
    pub run_queue_ns: u64,
    /// The kernel's state letter: R runs or could run, S and D sleep, Z has ended.
    pub state: char,
}

/// Reads the state letter of each process; `None` stands for one that is gone.
#[must_use]
pub fn task_states(pids: &[u32]) -> Vec<Option<char>> {
    pids.iter().map(|&pid| read_stat(pid).ok().map(|stat| stat.state)).collect()
}
