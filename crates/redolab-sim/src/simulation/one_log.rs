//! A log and the device below it: what is known of each at one instant.

use super::process::Process;
use crate::parameters::{Parameters, SecondLog};

/// What holds for one log alone.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// The place of its device.
    pub device: u32,
    pub flush_cpu_ns: u64,
    pub device_ns_per_byte: f64,
    pub pause_ns: u64,
    /// A leader pauses when more transactions than these are under way.
    pub siblings: u32,
    /// Positions that end the pause; 0 for none.
    pub enough: u64,
}

/// A log. Positions of the first are bytes since the beginning, those of the second commits.
#[derive(Debug)]
pub struct Log {
    pub rules: Rules,
    pub owner: Option<u32>,
    /// Where the owner's flush will have come to.
    pub target: u64,
    pub inserted: u64,
    pub flushed: u64,
    /// In the order in which they came.
    pub waiting: Vec<u32>,
    pub flush_began_ns: u64,
    /// When the pause of its owner is over; nothing where he does not pause.
    pub paused_until_ns: Option<u64>,
}

impl Log {
    /// Every log there is, the first first.
    pub fn all(parameters: &Parameters) -> Vec<Self> {
        let first = Rules {
            device: 0,
            flush_cpu_ns: parameters.flush_cpu_s.ns(),
            device_ns_per_byte: parameters.device_s_per_byte * 1e9,
            pause_ns: parameters.commit_delay_s.ns(),
            siblings: parameters.commit_siblings,
            enough: 0,
        };
        let second = |second: &SecondLog| Rules {
            device: u32::from(second.own_device),
            flush_cpu_ns: second.flush_cpu_s.ns(),
            device_ns_per_byte: 0.0,
            pause_ns: second.pause_s.ns(),
            siblings: 0,
            enough: u64::from(second.enough),
        };
        let rules = std::iter::once(first).chain(parameters.second.as_ref().map(second));
        rules.map(|rules| Self::new(rules, parameters.sessions as usize)).collect()
    }

    fn new(rules: Rules, sessions: usize) -> Self {
        Self {
            rules,
            owner: None,
            target: 0,
            inserted: 0,
            flushed: 0,
            waiting: Vec::with_capacity(sessions),
            flush_began_ns: 0,
            paused_until_ns: None,
        }
    }

    /// Whether a process has what it waits for.
    pub fn serves(&self, process: &Process) -> bool {
        process.needs <= self.flushed
    }

    /// Whether so many have come that nobody pauses for more.
    pub fn has_enough(&self) -> bool {
        self.rules.enough > 0 && self.inserted - self.flushed >= self.rules.enough
    }
}

/// A device, which does one flush at a time.
#[derive(Debug, Clone, Default)]
pub struct Device {
    /// The log whose flush it does.
    pub serves: Option<u32>,
    /// The log whose flush waits for that one's end.
    pub next: Option<u32>,
    pub idle_since_ns: u64,
    /// Its time for the flush after the wait that is under way.
    pub left_ns: u64,
    /// From its being done to its CPU's having heard of it, if that idles.
    pub told_after_ns: u64,
    /// What being told then costs who is there.
    pub interrupt_ns: u64,
    /// When the flush under way will be done if nothing keeps it waiting between.
    pub done_ns: u64,
}
