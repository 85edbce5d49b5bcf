//! The log writer.

use super::process::Phase;
use super::state::Simulation;
use crate::cpu::By;
use crate::events::Event;

impl Simulation<'_> {
    pub(super) fn writer(&self) -> u32 {
        self.parameters.sessions
    }

    pub(super) fn writer_is_due(&self) -> bool {
        let unflushed = self.logs[0].inserted - self.logs[0].flushed;
        self.parameters.asynchronous
            && self.parameters.writer_bytes > 0
            && unflushed >= u64::from(self.parameters.writer_bytes)
    }

    /// Returns whether the log was free.
    pub(super) fn start_writer(&mut self) -> bool {
        let free = self.logs[0].owner.is_none();
        if free {
            let writer = self.writer();
            self.logs[0].owner = Some(writer);
            self.processes[writer as usize].phase = Phase::Woken;
            self.run(writer, self.parameters.wake_s.ns(), By::Another);
        }
        free
    }

    pub(super) fn announce_tick(&mut self) {
        if self.parameters.writer_interval_s.ns() > 0 && !self.tick_announced {
            self.tick_announced = true;
            let at_ns = self.now_ns + self.parameters.writer_interval_s.ns();
            self.events.at(at_ns, Event::WriterTick);
        }
    }
}
