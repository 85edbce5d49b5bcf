//! How much each CPU has had to do lately, as Linux keeps it.
//!
//! Who waits or runs counts one, forgotten by half in 32 ms, and what a process has counted goes with it to another
//! CPU.
//!
//! Source: kernel/sched/pelt.c and `wake_affine` in kernel/sched/fair.c.

/// Forgotten by half in this time.
pub const HALF_LIFE_NS: f64 = 32e6;
/// How much more there may be at the waker's CPU: half of the 17 % of a cache domain's `imbalance_pct`.
const MORE: f64 = 1.085;

/// A mean over the time that is past.
#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    value: f64,
    now: u32,
    at_ns: u64,
}

impl Mean {
    /// The mean until now.
    #[expect(clippy::cast_precision_loss, reason = "an interval is short")]
    fn until(&mut self, now_ns: u64) -> f64 {
        if now_ns > self.at_ns {
            let kept = libm::exp2(-((now_ns - self.at_ns) as f64) / HALF_LIFE_NS);
            self.value = kept * self.value + (1.0 - kept) * f64::from(self.now);
            self.at_ns = now_ns;
        }
        self.value
    }
}

/// What is remembered of processes and CPUs.
#[derive(Debug)]
pub struct Load {
    processes: Vec<Mean>,
    cpus: Vec<Mean>,
}

impl Load {
    pub fn new(servers: usize, processes: usize) -> Self {
        Self { processes: vec![Mean::default(); processes], cpus: vec![Mean::default(); servers] }
    }

    /// A process that was last at one CPU waits or runs at another, or the same.
    pub fn comes(&mut self, process: u32, from: u32, to: u32, now_ns: u64) {
        self.moves(process, from, to, now_ns);
        self.processes[process as usize].now = 1;
        self.cpus[to as usize].now += 1;
    }

    /// A process goes to sleep.
    pub fn sleeps(&mut self, process: u32, server: u32, now_ns: u64) {
        self.processes[process as usize].until(now_ns);
        self.processes[process as usize].now = 0;
        self.cpus[server as usize].until(now_ns);
        self.cpus[server as usize].now -= 1;
    }

    /// A process that waits is taken over by another CPU.
    pub fn taken(&mut self, process: u32, from: u32, to: u32, now_ns: u64) {
        self.moves(process, from, to, now_ns);
        self.cpus[from as usize].now -= 1;
        self.cpus[to as usize].now += 1;
    }

    fn moves(&mut self, process: u32, from: u32, to: u32, now_ns: u64) {
        let own = self.processes[process as usize].until(now_ns);
        for server in [from, to] {
            self.cpus[server as usize].until(now_ns);
        }
        if from != to {
            self.cpus[from as usize].value = (self.cpus[from as usize].value - own).max(0.0);
            self.cpus[to as usize].value += own;
        }
    }

    /// Whether a process would find less to do at its waker's CPU than where it was last.
    pub fn is_less(&mut self, process: u32, here: u32, last: u32, now_ns: u64) -> bool {
        let own = self.processes[process as usize].until(now_ns);
        let [here, last] = [here, last].map(|server| self.cpus[server as usize].until(now_ns));
        here + own < MORE * (last - own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF_LIFE: u64 = 32_000_000;

    #[test]
    fn what_was_to_do_is_forgotten_by_half() {
        let mut load = Load::new(2, 3);
        load.comes(0, 0, 0, 0);
        assert!((load.cpus[0].until(HALF_LIFE) - 0.5).abs() < 1e-12);
        load.sleeps(0, 0, HALF_LIFE);
        assert!((load.cpus[0].until(2 * HALF_LIFE) - 0.25).abs() < 1e-12);
        assert!((load.processes[0].until(2 * HALF_LIFE) - 0.25).abs() < 1e-12);
    }

    #[test]
    fn a_process_takes_along_what_it_was() {
        let mut load = Load::new(2, 3);
        load.comes(0, 0, 0, 0);
        load.comes(1, 0, 0, 0);
        load.taken(1, 0, 1, HALF_LIFE);
        assert!((load.cpus[0].until(HALF_LIFE) - 0.5).abs() < 1e-12);
        assert!((load.cpus[1].until(HALF_LIFE) - 0.5).abs() < 1e-12);
        assert!((load.cpus[1].until(2 * HALF_LIFE) - 0.75).abs() < 1e-12);
    }

    #[test]
    fn the_wakers_cpu_must_have_less_with_the_process_than_the_other_without() {
        let mut load = Load::new(2, 4);
        for process in 0..3 {
            load.comes(process, 0, 0, 0);
        }
        assert!(load.is_less(0, 1, 0, HALF_LIFE));
        // One more there: 1.0 against 1.085 times 1.0; two more are too many.
        load.comes(3, 1, 1, 0);
        assert!(load.is_less(0, 1, 0, HALF_LIFE));
        load.taken(1, 0, 1, HALF_LIFE);
        assert!(!load.is_less(0, 1, 0, HALF_LIFE));
    }
}
