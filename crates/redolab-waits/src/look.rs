//! One look at one process: its event, and what the scheduler does with it, of one moment.

use crate::process::Process;
use crate::window::State;
use crate::{clock, memory};

/// What one look saw.
pub struct Look {
    /// The event at the moment of the look.
    pub event: u32,
    /// What the process did in that moment.
    pub state: State,
    /// Whether the event changed while the kernel was asked.
    pub torn: bool,
    /// Its CPU time before the kernel was asked.
    pub cpu_ns: u64,
    /// Time between the two readings of the event.
    pub exposure_ns: u64,
    /// The wait it was asleep in.
    pub resting: Option<Resting>,
}

/// A wait that a process was asleep in.
#[derive(Clone, Copy, Debug)]
pub struct Resting {
    /// The event.
    pub event: u32,
    /// Its CPU time: as long as that stands still it has not run, and is still in the same wait.
    pub cpu_ns: u64,
    /// When it was looked at.
    pub at: u64,
}

/// What a process is found doing.
pub enum Sight {
    /// It waits for work in its main loop, or for its client.
    Idle(u32),
    /// Anything else.
    Busy(Look),
}

/// Whether the event says that the process waits for work: in its main loop (class Activity), or
/// for its client (class Client). Its state need not be asked then.
pub fn is_idle(event: u32) -> bool {
    matches!(event >> 24, 0x05 | 0x06)
}

/// Looks at a process; `None` when it is gone or has given its place up.
///
/// The order of readings is event, CPU time, state, CPU time, event. The kernel's state letter
/// says whether the process was asleep; its CPU time, which stands still unless it is really on a
/// CPU, tells running from waiting for a CPU. A letter that says asleep is believed even when the
/// CPU time moved: the process fell asleep or woke up within this microsecond, and only one moment
/// must decide, or processes that do it often would be seen on a CPU too often.
pub fn look(process: &mut Process, pointer: u64, text: &mut [u8; 512]) -> Option<Sight> {
    let event = published(process, pointer)?;
    if is_idle(event) {
        return Some(Sight::Idle(event));
    }
    let first_at = clock::now();
    let cpu_ns = process.read_cpu()?;
    let letter = process.read_letter(text)?;
    let cpu_ns_after = process.read_cpu()?;
    // A process that gives its place up at this moment has changed its event, too.
    let torn = published(process, pointer) != Some(event);
    let last_at = clock::now();
    let state = match letter {
        _ if torn => State::Unknown,
        b'R' if cpu_ns_after > cpu_ns => State::OnCpu,
        b'R' => State::Runnable,
        _ => State::Asleep,
    };
    let asleep = state == State::Asleep && event != 0;
    Some(Sight::Busy(Look {
        event,
        state,
        torn,
        cpu_ns,
        exposure_ns: last_at - first_at,
        resting: asleep.then_some(Resting { event, cpu_ns: cpu_ns_after, at: last_at }),
    }))
}

/// The event that a process publishes, provided that the place it was read from is still its own.
fn published(process: &Process, pointer: u64) -> Option<u32> {
    let place = process.place?;
    let (target, event) = memory::read_word_and_short(process.watched.pid, pointer, place).ok()?;
    (target == place).then_some(event)
}
