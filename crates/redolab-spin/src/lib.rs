//! Fixed CPU work, from an agreed moment on, in a process that dies with its parent.
//!
//! The work is integer arithmetic, shifts and reads of a table of 4 KiB: it stays in the nearest
//! cache, asks nothing of the system and waits for nothing but a CPU.

use std::hint::black_box;
use std::io;

use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Steps in one spin, the unit of work.
pub const STEPS: u32 = 1_000_000;
const TABLE: usize = 512;
const NANOS: u64 = 1_000_000_000;

/// What [`spin`] did, and when; times are nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Spun {
    /// Spins done.
    pub spins: u64,
    /// When the first began: later than agreed where the process had to wait for a CPU.
    pub begun_ns: u64,
    /// When the last ended.
    pub ended_ns: u64,
}

/// Sleeps until the monotonic clock shows `start_ns`, then works.
///
/// It stops after `most` spins, or with the spin during which the clock passes `until_ns`.
#[must_use]
pub fn spin(start_ns: u64, most: u64, until_ns: u64) -> Spun {
    let mut work = Work::new();
    sleep_until(start_ns);
    let begun_ns = now_ns();
    let mut spins = 0;
    while spins < most {
        work.spin();
        spins += 1;
        if now_ns() >= until_ns {
            break;
        }
    }
    Spun { spins, begun_ns, ended_ns: now_ns() }
}

/// Has the kernel kill this process when its parent ends, however that ends.
///
/// `parent` is who the parent must be: one that ended before this call is not noticed by the kernel.
///
/// # Errors
///
/// When the parent is another process by now, or the kernel refuses.
pub fn die_with_parent(parent: u32) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let found = getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
    if found == Some(parent) {
        Ok(())
    } else {
        Err(io::Error::other(format!("the parent process {parent} is gone")))
    }
}

/// Two independent streams of numbers, so that a CPU is neither starved nor filled.
struct Work {
    table: [u64; TABLE],
    first: u64,
    second: u64,
}

impl Work {
    fn new() -> Self {
        let mut state = 0x9E37_79B9_7F4A_7C15;
        let table = std::array::from_fn(|_| {
            state = step(state);
            state
        });
        Self { table, first: 1, second: 2 }
    }

    fn spin(&mut self) {
        let (mut first, mut second) = (self.first, self.second);
        for _ in 0..STEPS {
            first = step(first ^ self.at(first));
            second = step(second ^ self.at(second));
        }
        // Without a reader the compiler would leave the work out.
        (self.first, self.second) = black_box((first, second));
    }

    fn at(&self, number: u64) -> u64 {
        self.table[usize::try_from(number % TABLE as u64).unwrap_or_default()]
    }
}

/// Marsaglia's xorshift generator with 64 bits of state: <https://doi.org/10.18637/jss.v008.i14>.
fn step(mut state: u64) -> u64 {
    state ^= state << 13;
    state ^= state >> 7;
    state ^ (state << 17)
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or_default() * NANOS
        + u64::try_from(now.tv_nsec).unwrap_or_default()
}

fn sleep_until(due_ns: u64) {
    let due = Timespec {
        tv_sec: i64::try_from(due_ns / NANOS).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(due_ns % NANOS).unwrap_or_default(),
    };
    // A signal wakes it early; the moment agreed on stays the same.
    while clock_nanosleep_absolute(ClockId::Monotonic, &due).is_err() && now_ns() < due_ns {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_spins_as_asked_from_the_agreed_moment_on() {
        let start_ns = now_ns() + 20_000_000;
        let done = spin(start_ns, 3, u64::MAX);
        assert_eq!(done.spins, 3);
        assert!(done.begun_ns >= start_ns);
        assert!(done.ended_ns > done.begun_ns);
    }

    #[test]
    fn it_stops_at_the_deadline_with_whole_spins() {
        let now = now_ns();
        let done = spin(now, u64::MAX, now + 20_000_000);
        assert!(done.spins >= 1);
        assert!(done.ended_ns >= now + 20_000_000);
    }

    #[test]
    fn every_spin_goes_on_with_new_numbers() {
        let mut work = Work::new();
        let mut seen = std::collections::HashSet::new();
        for _ in 0..50 {
            work.spin();
            assert!(seen.insert((work.first, work.second)), "the streams repeat themselves");
        }
    }

    #[test]
    fn another_parent_than_expected_is_an_error() {
        let error = die_with_parent(u32::MAX).expect_err("nobody has that id");
        assert!(error.to_string().contains("is gone"), "{error}");
        set_parent_process_death_signal(None).expect("allowed for oneself");
    }
}
