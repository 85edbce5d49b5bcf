//! The CPU times of the whole machine.

use std::io;

use super::parse;
use super::procfs::{read, ticks_to_ns, unreadable};

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

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

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
