//! The clocks a sampler goes by, in nanoseconds.

use std::num::NonZeroU64;
use std::time::Duration;

use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};
use nix::unistd::Pid;

/// The monotonic clock.
pub fn now() -> u64 {
    read(ClockId::CLOCK_MONOTONIC).unwrap_or_default()
}

/// The clock in whose ticks the kernel tells when a process started.
pub fn since_boot() -> u64 {
    read(ClockId::CLOCK_BOOTTIME).unwrap_or_default()
}

/// CPU time of this thread.
pub fn own_cpu() -> u64 {
    read(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap_or_default()
}

/// The clock of a process's CPU time; any user may read it.
pub fn of_process(pid: u32) -> Option<ClockId> {
    ClockId::pid_cpu_clock_id(Pid::from_raw(i32::try_from(pid).ok()?)).ok()
}

/// What a clock shows; `None` when its process is gone.
pub fn read(clock: ClockId) -> Option<u64> {
    let time = Duration::from(clock_gettime(clock).ok()?);
    u64::try_from(time.as_nanos()).ok()
}

/// Sleeps until the monotonic clock shows `due`.
pub fn sleep_until(due: u64) {
    let due = TimeSpec::from(Duration::from_nanos(due));
    let flags = ClockNanosleepFlags::TIMER_ABSTIME;
    while clock_nanosleep(ClockId::CLOCK_MONOTONIC, flags, &due).is_err() {}
}

/// Lets this thread wake on time: timer slack off, and real-time priority where that is allowed.
///
/// On saturated CPUs a sampler of ordinary priority wakes mostly when the server sleeps, and then
/// sees far more sleep than there is. Returns whether it has the priority.
pub fn sharpen() -> bool {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let priority = libc::sched_param { sched_priority: 1 };
    // SAFETY: the pointer is to a live value of the type asked for, and 0 means this thread.
    #[expect(unsafe_code, reason = "no safe wrapper sets the scheduling policy")]
    let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const priority) };
    result == 0
}
