//! One look at one process: its event, and what the scheduler does with it, of one moment.

use super::process::{Process, Resting};
use crate::kernel::clock;
use crate::kernel::on_cpu::OnCpu;
use crate::kernel::state::State;
use crate::postgres::memory;

/// What a look is done with.
pub struct Tools {
    /// Tells running from waiting for a CPU.
    pub on_cpu: OnCpu,
    /// Whether the present tick asks for that: it costs more than the rest of a look.
    pub tell: bool,
    /// Room to read into.
    pub text: [u8; 512],
}

/// What one look saw.
pub struct Look {
    /// The event at the moment of the look.
    pub event: u32,
    /// What the process did in that moment.
    pub state: State,
    /// Whether the event changed while the kernel was asked.
    pub torn: bool,
    /// Its CPU time.
    pub cpu_ns: u64,
    /// Time between the two readings of the event.
    pub exposure_ns: u64,
    /// The wait it was asleep in.
    pub resting: Option<Resting>,
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
/// Event, state, CPU time, and the event again: all of one moment, unless the event changed. The
/// server's processes share what they publish, so it is read through its first one, `postmaster`:
/// to open every process's own memory at a time costs several times as much.
pub fn look(process: &mut Process, postmaster: u32, tools: &mut Tools) -> Option<Sight> {
    let place = process.place?;
    let event = memory::read_short(postmaster, place).ok()?;
    if is_idle(event) {
        return Some(Sight::Idle(event));
    }
    let first_at = clock::now();
    let letter = process.read_letter(&mut tools.text)?;
    let state = match letter {
        b'R' if tools.tell => tools.on_cpu.state(process.watched.pid),
        b'R' => State::Awake,
        _ => State::Asleep,
    };
    let cpu_ns = process.read_cpu()?;
    let torn = memory::read_short(postmaster, place).ok()? != event;
    let last_at = clock::now();
    let state = if torn { State::Unknown } else { state };
    let asleep = state == State::Asleep && event != 0;
    Some(Sight::Busy(Look {
        event,
        state,
        torn,
        cpu_ns,
        exposure_ns: last_at - first_at,
        resting: asleep.then_some(Resting { event, cpu_ns, at: last_at }),
    }))
}
