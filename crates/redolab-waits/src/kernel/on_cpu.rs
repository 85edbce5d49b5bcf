//! Whether a process that could run is on a CPU, or waits for one.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use super::parse;
use super::state::State;

/// Tells running from waiting for a CPU.
///
/// The kernel's state letter is R for both, and its CPU time of another process moves only at the
/// scheduler's ticks, some milliseconds apart. But the scheduler counts how often it put a process
/// on a CPU (third field of `/proc/PID/schedstat`) and how often it took it off (`nr_switches` in
/// `/proc/PID/sched`): a process is on a CPU exactly while the first is one ahead.
///
/// The sampler itself takes a CPU from somebody when it wakes. That process was running at the
/// moment of the tick, and is known by the scheduler's clock: it left its CPU in the instant in
/// which this thread got it.
pub struct OnCpu {
    own: Option<File>,
    /// When this thread got its CPU.
    got_cpu: Option<u64>,
}

impl OnCpu {
    /// For the thread that calls it.
    pub fn of_this_thread() -> Self {
        Self { own: File::open("/proc/thread-self/sched").ok(), got_cpu: None }
    }

    /// The thread woke up, maybe on another CPU.
    pub fn woke(&mut self) {
        self.got_cpu = None;
    }

    /// What a process does whose state letter is R. `Runnable` where the kernel does not tell.
    pub fn state(&mut self, pid: u32) -> State {
        self.ask(pid).unwrap_or(State::Runnable)
    }

    fn ask(&mut self, pid: u32) -> Option<State> {
        let schedstat = fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
        let [_, _, put_on] = parse::schedstat(&schedstat)?;
        let sched = File::open(format!("/proc/{pid}/sched")).ok()?;
        let sched = read(&sched)?;
        let on_cpu = put_on.checked_sub(sched.taken_off)?;
        if self.got_cpu.is_none() {
            self.got_cpu = Some(read(self.own.as_ref()?)?.ran_at_ns);
        }
        let gave_way = self.got_cpu == Some(sched.ran_at_ns);
        Some(if on_cpu == 1 || gave_way { State::OnCpu } else { State::Runnable })
    }
}

fn read(file: &File) -> Option<parse::Sched> {
    let mut text = [0; 1024];
    let length = file.read_at(&mut text, 0).ok()?;
    parse::sched(&text[..length])
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::kernel::threads::process_threads;

    #[test]
    fn a_thread_that_asks_about_itself_is_on_a_cpu() {
        let id = fs::read_link("/proc/thread-self").expect("a thread");
        let id = id.file_name().and_then(|name| name.to_str()?.parse().ok()).expect("its id");
        let mut on_cpu = OnCpu::of_this_thread();
        let mut found = 0;
        for _ in 0..1000 {
            on_cpu.woke();
            found += u32::from(on_cpu.state(id) == State::OnCpu);
        }
        // It may be taken off its CPU between the two counts.
        assert!(found > 900, "{found}");
    }

    #[test]
    fn among_threads_that_spin_no_more_than_the_machine_has_cpus_run() {
        let cpus = std::thread::available_parallelism().expect("CPUs").get();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..3 * cpus {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        black_box(0);
                    }
                });
            }
            let spinners: Vec<u32> = process_threads(std::process::id())
                .expect("threads")
                .iter()
                .map(|thread| thread.pid)
                .collect();
            let mut on_cpu = OnCpu::of_this_thread();
            let mut running = 0;
            for _ in 0..200 {
                on_cpu.woke();
                let found = spinners.iter().filter(|&&id| on_cpu.state(id) == State::OnCpu);
                running += found.count();
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            stop.store(true, Ordering::Relaxed);
            // This thread is among them, and one is taken off while another is asked about.
            assert!(running >= 200, "{running}");
            assert!(running <= 200 * (2 * cpus + 1), "{running}");
        });
    }
}
