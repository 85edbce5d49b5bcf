//! Reads wait events and CPU accounts of a database server's processes from outside, on Linux.
//!
//! The accounts come from `/proc`, which any user may read; the wait events from the server's
//! shared memory, which the same user or one with `CAP_SYS_PTRACE` may read. Nothing is asked of
//! the server.
//! All times are cumulative: the difference of two readings is what happened in between. Two
//! readings of one process belong together only if its pid *and* its start time agree, because
//! the kernel gives pids out again.

mod burst;
mod clock;
mod follow;
mod kind;
mod layout;
mod lengths;
mod look;
mod memory;
mod on_cpu;
mod parse;
mod process;
mod sampler;
mod symbol;
mod sync_wait;
mod threads;
mod window;

use std::fs;
use std::io;

use parse::Stat;
pub use sampler::{Config, Sampler};
pub use threads::process_threads;
pub use window::{Ends, Episodes, Looks, State, Watched, Window};

/// How often a reading is repeated when processes come and go while it is taken.
const ATTEMPTS: usize = 4;

/// One process of a server, with its CPU account.
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

/// A server's processes at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerTasks {
    /// The postmaster first, then its direct children.
    pub tasks: Vec<Task>,
    /// CPU time of all children the postmaster has collected after their end, and of theirs, in
    /// nanoseconds. The kernel tells it in clock ticks (mostly 10 ms): it keeps the exact sum, so
    /// only the last tick is missing, however many children ended.
    pub reaped_cpu_ns: u64,
}

/// Cumulative CPU times of the whole machine, each summed over its CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineTimes {
    /// Time the CPUs worked for this machine, guests and interrupts included, in nanoseconds.
    pub busy_ns: u64,
    /// Time the hypervisor gave to others although this machine had work, in nanoseconds.
    pub steal_ns: u64,
    /// Time the CPUs had nothing to run, waiting for a disk included, in nanoseconds.
    pub idle_ns: u64,
    /// Number of CPUs online.
    pub cpus: u32,
}

/// Reads the accounts of the postmaster and of every direct child.
///
/// A child that ends while it is read is left out: its time is then in
/// [`ServerTasks::reaped_cpu_ns`]. So that no child is counted twice or not at all, the reading
/// is repeated (a few times at most) when the postmaster collected a child meanwhile.
///
/// # Errors
///
/// When there is no such process, or `/proc` cannot be read.
pub fn server_tasks(postmaster_pid: u32) -> io::Result<ServerTasks> {
    let mut reaped_ticks = read_stat(postmaster_pid)?.reaped_ticks;
    let mut attempt = 1;
    loop {
        let mut postmaster = read_task(postmaster_pid)?;
        "postmaster".clone_into(&mut postmaster.kind);
        let mut tasks = vec![postmaster];
        tasks.extend(children(postmaster_pid)?.into_iter().filter_map(|pid| read_task(pid).ok()));
        let reaped_ticks_after = read_stat(postmaster_pid)?.reaped_ticks;
        if reaped_ticks_after == reaped_ticks || attempt == ATTEMPTS {
            return Ok(ServerTasks { tasks, reaped_cpu_ns: ticks_to_ns(reaped_ticks_after) });
        }
        reaped_ticks = reaped_ticks_after;
        attempt += 1;
    }
}

/// Reads the state letter of each process; `None` stands for one that is gone.
#[must_use]
pub fn task_states(pids: &[u32]) -> Vec<Option<char>> {
    pids.iter().map(|&pid| read_stat(pid).ok().map(|stat| stat.state)).collect()
}

/// Reads the CPU times of the whole machine.
///
/// # Errors
///
/// When `/proc/stat` cannot be read or understood.
pub fn machine_times() -> io::Result<MachineTimes> {
    let path = "/proc/stat";
    let times = parse::machine(&read(path)?).ok_or_else(|| unreadable(path))?;
    Ok(MachineTimes {
        busy_ns: ticks_to_ns(times.busy_ticks),
        steal_ns: ticks_to_ns(times.steal_ticks),
        idle_ns: ticks_to_ns(times.idle_ticks),
        cpus: times.cpus,
    })
}

fn read_task(pid: u32) -> io::Result<Task> {
    let stat = read_stat(pid)?;
    let schedstat_path = format!("/proc/{pid}/schedstat");
    let [cpu_ns, run_queue_ns, _] =
        parse::schedstat(&read(&schedstat_path)?).ok_or_else(|| unreadable(&schedstat_path))?;
    let title = read(&format!("/proc/{pid}/cmdline"))?;
    Ok(Task {
        pid,
        kind: kind::from_title(&title).kind,
        start_ticks: stat.start_ticks,
        cpu_ns,
        run_queue_ns,
        state: stat.state,
    })
}

fn read_stat(pid: u32) -> io::Result<Stat> {
    let path = format!("/proc/{pid}/stat");
    parse::stat(&read(&path)?).ok_or_else(|| unreadable(&path))
}

fn children(pid: u32) -> io::Result<Vec<u32>> {
    let Ok(mut listed) = children_by_list(pid) else {
        // The kernel may be built without these lists.
        return children_by_scan(pid);
    };
    // The kernel warns that a list may miss a process when another ends while it is written:
    // believe it once it says the same twice.
    for _ in 1..ATTEMPTS {
        let again = children_by_list(pid)?;
        if again == listed {
            break;
        }
        listed = again;
    }
    Ok(listed)
}

/// The kernel keeps one list for each thread.
fn children_by_list(pid: u32) -> io::Result<Vec<u32>> {
    let mut found = Vec::new();
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        let path = thread?.path().join("children");
        found.extend(parse::children(&fs::read(path)?));
    }
    Ok(found)
}

fn children_by_scan(parent: u32) -> io::Result<Vec<u32>> {
    let mut found: Vec<u32> = fs::read_dir("/proc")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|&pid| read_stat(pid).is_ok_and(|stat| stat.parent == parent))
        .collect();
    found.sort_unstable();
    Ok(found)
}

fn ticks_to_ns(ticks: u64) -> u64 {
    ticks * (1_000_000_000 / rustix::param::clock_ticks_per_second())
}

/// Reads a whole file; an error names it. A process may carry any bytes in its name and title.
fn read(path: &str) -> io::Result<String> {
    let bytes =
        fs::read(path).map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn unreadable(path: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{path} is not as this kernel writes it"))
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::process::{Command, id};
    use std::time::{Duration, Instant};

    use super::*;

    /// A child of this process that lives as long as its test.
    struct Child(std::process::Child);

    impl Child {
        fn sleeping() -> Self {
            Self(Command::new("sleep").arg("60").spawn().expect("sleep can be started"))
        }
    }

    impl Drop for Child {
        fn drop(&mut self) {
            self.0.kill().expect("the child can be ended");
            self.0.wait().expect("the child can be collected");
        }
    }

    fn own_thread_ns() -> (u64, u64) {
        let schedstat = fs::read_to_string("/proc/thread-self/schedstat").expect("schedstat");
        let stat = fs::read_to_string("/proc/thread-self/stat").expect("stat");
        let [cpu_ns, ..] = parse::schedstat(&schedstat).expect("schedstat parses");
        let stat = parse::stat(&stat).expect("stat parses");
        (cpu_ns, ticks_to_ns(stat.own_ticks))
    }

    #[test]
    fn both_of_the_kernels_cpu_accounts_agree() {
        let (schedstat_before, stat_before) = own_thread_ns();
        let end = Instant::now() + Duration::from_millis(600);
        let mut sum = 0_u64;
        while Instant::now() < end {
            sum = black_box(sum.wrapping_add(1));
        }
        let (schedstat_after, stat_after) = own_thread_ns();
        let schedstat = schedstat_after - schedstat_before;
        let stat = stat_after - stat_before;
        // `stat` counts whole ticks of 10 ms, one of which may be missing at either end.
        let tolerance = schedstat * 3 / 100 + 2 * ticks_to_ns(1);
        assert!(schedstat.abs_diff(stat) <= tolerance, "schedstat {schedstat}, stat {stat}");
    }

    #[test]
    fn a_parent_comes_first_and_its_children_follow() {
        let child = Child::sleeping();
        let read = server_tasks(id()).expect("this process can be read");
        let parent = &read.tasks[0];
        assert_eq!((parent.pid, parent.kind.as_str()), (id(), "postmaster"));
        assert!(parent.cpu_ns > 0);
        let found = read.tasks.iter().find(|task| task.pid == child.0.id());
        let found = found.expect("the child is listed");
        assert!(found.start_ticks >= parent.start_ticks);
    }

    #[test]
    fn a_scan_finds_the_children_that_the_list_names() {
        let child = Child::sleeping();
        for find in [children_by_list, children_by_scan] {
            assert!(find(id()).expect("children").contains(&child.0.id()));
            assert!(find(child.0.id()).expect("children").is_empty());
        }
    }

    #[test]
    fn a_process_that_is_gone_is_an_error_as_server_and_nothing_as_state() {
        // Pids end at 2^22.
        assert!(server_tasks(u32::MAX).is_err());
        let states = task_states(&[id(), u32::MAX]);
        assert!(states[0].is_some());
        assert_eq!(states[1], None);
    }

    #[test]
    fn the_machine_has_cpus_and_its_times_grow() {
        let before = machine_times().expect("/proc/stat");
        let end = Instant::now() + Duration::from_millis(100);
        while Instant::now() < end {}
        let after = machine_times().expect("/proc/stat");
        assert!(after.cpus > 0);
        assert!(after.busy_ns > before.busy_ns);
        assert!(after.steal_ns >= before.steal_ns);
    }
}
