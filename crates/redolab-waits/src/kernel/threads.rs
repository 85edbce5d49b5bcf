//! The accounts of one process's threads, for servers whose sessions are threads.

use std::fs;
use std::io;

use super::parse;
use super::procfs::{read, unreadable};
use super::task::Task;

/// Reads the accounts of every thread of a process, in the order of their ids.
///
/// In each [`Task`] `pid` is the thread's id and `kind` the name the thread gave itself; the first
/// thread is the process itself. Threads that end while they are read are left out.
///
/// # Errors
///
/// When there is no such process.
pub fn process_threads(pid: u32) -> io::Result<Vec<Task>> {
    let directory = format!("/proc/{pid}/task");
    let mut ids: Vec<u32> = fs::read_dir(&directory)
        .map_err(|error| io::Error::new(error.kind(), format!("{directory}: {error}")))?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    ids.sort_unstable();
    Ok(ids.into_iter().filter_map(|id| thread(&directory, id).ok()).collect())
}

fn thread(directory: &str, id: u32) -> io::Result<Task> {
    let path = |file| format!("{directory}/{id}/{file}");
    let stat = parse::stat(&read(&path("stat"))?).ok_or_else(|| unreadable(&path("stat")))?;
    let [cpu_ns, run_queue_ns, _] = parse::schedstat(&read(&path("schedstat"))?)
        .ok_or_else(|| unreadable(&path("schedstat")))?;
    Ok(Task {
        pid: id,
        kind: read(&path("comm"))?.trim_end_matches('\n').to_owned(),
        start_ticks: stat.start_ticks,
        cpu_ns,
        run_queue_ns,
        state: stat.state,
    })
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::process::id;
    use std::sync::mpsc;
    use std::thread::Builder;

    use super::*;

    #[test]
    fn a_busy_thread_is_told_from_a_sleeping_one() {
        let (stop_sleeping, sleeps) = mpsc::channel::<()>();
        let (stop_spinning, spins) = mpsc::channel::<()>();
        let sleeper = Builder::new().name("a (sleeper)".into()).spawn(move || sleeps.recv());
        let spinner = Builder::new().name("spinner".into()).spawn(move || {
            while spins.try_recv() == Err(mpsc::TryRecvError::Empty) {
                black_box(0);
            }
        });
        let account = |name: &str| loop {
            // A thread gives itself its name after it began.
            let threads = process_threads(id()).expect("this process has threads");
            if let Some(found) = threads.into_iter().find(|thread| thread.kind == name) {
                break found;
            }
        };
        let (sleeper_before, spinner_before) = (account("a (sleeper)"), account("spinner"));
        let mut spun = spinner_before.cpu_ns;
        while spun < spinner_before.cpu_ns + 50_000_000 {
            spun = account("spinner").cpu_ns;
        }
        let sleeper_after = account("a (sleeper)");
        assert_eq!(sleeper_after.state, 'S');
        assert_eq!(sleeper_after.start_ticks, sleeper_before.start_ticks);
        assert!(sleeper_after.cpu_ns < 50_000_000);
        assert_ne!(sleeper_after.pid, spinner_before.pid);
        drop((stop_sleeping, stop_spinning));
        assert!(sleeper.expect("started").join().expect("ended").is_err());
        spinner.expect("started").join().expect("ended");
    }

    #[test]
    fn the_first_thread_is_the_process_and_a_process_that_is_gone_is_an_error() {
        let threads = process_threads(id()).expect("this process has threads");
        assert_eq!(threads[0].pid, id());
        assert_eq!(
            process_threads(u32::MAX).expect_err("no such process").kind(),
            io::ErrorKind::NotFound
        );
    }
}
