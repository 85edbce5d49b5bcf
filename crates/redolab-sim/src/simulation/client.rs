//! The client: threads that send the sessions' statements and take the answers.
//!
//! A thread works for one session after the other, in the order in which the server answered, and sleeps
//! when there is none.

use super::state::Simulation;
use crate::cpu::By;
use crate::rounding::scaled;
use crate::tally::State;

impl Simulation<'_> {
    pub(super) fn has_client(&self) -> bool {
        self.parameters.statements > 0
    }

    /// The threads come in the numbers after the log writer.
    pub(super) fn first_thread(&self) -> u32 {
        self.writer() + 1
    }

    /// The server's answer to a session is there for its thread, or a timer.
    pub(super) fn tell_client(&mut self, session: u32, timer: bool) {
        self.set_state(session, State::Client);
        let number = session % self.parameters.client_threads;
        let inbox = &mut self.threads[number as usize].inbox;
        inbox.push_back(session);
        if inbox.len() > 1 {
            return;
        }
        let thread = self.first_thread() + number;
        let work_ns = self.client_ns(session, self.parameters.client_wake_s.ns());
        self.tally.client_wakes += 1;
        let exit_ns = self.exit_ns(self.is_committing(session));
        self.run(
            thread,
            work_ns,
            if timer { By::Another } else { By::OtherSide { waker: session, exit_ns } },
        );
    }

    /// From sending to the other side's running on a CPU that idles.
    fn exit_ns(&self, last_part: bool) -> u64 {
        self.of_part(self.parameters.hand_over_exit_s.ns(), last_part)
    }

    /// CPU time of the client for what the session waits for.
    fn client_ns(&self, session: u32, wake_ns: u64) -> u64 {
        self.of_part(self.parameters.client_s.ns() + wake_ns, self.is_committing(session))
    }

    /// A part can stand for several statements: then it costs as much as they all. The last is one.
    fn of_part(&self, of_statement_ns: u64, last: bool) -> u64 {
        let statements = if last { 1.0 } else { self.prepared.statements_of_part };
        scaled(of_statement_ns, statements)
    }

    /// A thread has done what it had to for the first in its inbox. Returns the CPU time for the next.
    pub(super) fn client_step(&mut self, thread: u32) -> Option<u64> {
        let number = (thread - self.first_thread()) as usize;
        let session = *self.threads[number].inbox.front()?;
        let work_ns = if self.is_committing(session) {
            self.acknowledged(session)
        } else {
            Some(self.next_part(session))
        };
        if let Some(work_ns) = work_ns {
            let last_part = self.processes[session as usize].parts == 1;
            let exit_ns = self.exit_ns(last_part);
            self.run(session, work_ns, By::OtherSide { waker: thread, exit_ns });
        }
        let inbox = &mut self.threads[number].inbox;
        inbox.pop_front();
        let next = *inbox.front()?;
        Some(self.client_ns(next, 0))
    }
}
