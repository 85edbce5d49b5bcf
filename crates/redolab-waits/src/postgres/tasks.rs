//! The CPU accounts of a postmaster and of its direct children, each with what the process is.

use std::io;

use super::kind;
use crate::kernel::children::children;
use crate::kernel::parse;
use crate::kernel::procfs::{ATTEMPTS, read, read_stat, ticks_to_ns, unreadable};
use crate::kernel::task::Task;

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

#[cfg(test)]
mod tests {
    use std::process::id;

    use super::*;
    use crate::kernel::sleeper::Sleeper;
    use crate::kernel::task::task_states;

    #[test]
    fn a_parent_comes_first_and_its_children_follow() {
        let child = Sleeper::start();
        let read = server_tasks(id()).expect("this process can be read");
        let parent = &read.tasks[0];
        assert_eq!((parent.pid, parent.kind.as_str()), (id(), "postmaster"));
        assert!(parent.cpu_ns > 0);
        let found = read.tasks.iter().find(|task| task.pid == child.id());
        let found = found.expect("the child is listed");
        assert!(found.start_ticks >= parent.start_ticks);
    }

    #[test]
    fn a_process_that_is_gone_is_an_error_as_server_and_nothing_as_state() {
        // Pids end at 2^22.
        assert!(server_tasks(u32::MAX).is_err());
        let states = task_states(&[id(), u32::MAX]);
        assert!(states[0].is_some());
        assert_eq!(states[1], None);
    }
}
