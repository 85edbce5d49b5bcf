//! A transaction from its beginning to its acknowledgement, part by part.

use super::process::Phase;
use super::state::Simulation;
use crate::cpu::By;
use crate::events::Event;
use crate::rounding::whole;
use crate::tally::State;

impl Simulation<'_> {
    /// Begin a transaction. Returns the CPU time it asks for first.
    pub(super) fn begin(&mut self, session: u32, arrived_ns: u64) -> u64 {
        let mut work_ns = self.draws.rows.draw() + self.draws.commit.draw();
        if std::mem::take(&mut self.processes[session as usize].cold) {
            work_ns += self.parameters.cold_s.ns();
        }
        if self.parameters.contention_s > 0.0 {
            let others = f64::from(self.others_on_cpu(session));
            work_ns += whole(self.parameters.contention_s * 1e9 * others);
        }
        let parts = self.prepared.parts;
        let last_part_ns = share(work_ns, self.parameters.statements.max(parts));
        let part_ns = share(work_ns - last_part_ns, (parts - 1).max(1));
        // It counts from its first row on: just before its commit, if that is the only one.
        if parts == 1 && self.parameters.rows > 1 {
            self.active += 1;
        }
        if self.prepared.burst.is_none() {
            self.tally.arrivals += 1;
        }
        let own = &mut self.processes[session as usize];
        own.arrived_ns = arrived_ns;
        own.parts = parts;
        own.part_ns = part_ns;
        own.last_part_ns = work_ns - part_ns * u64::from(parts - 1);
        self.next_part(session)
    }

    /// Other sessions that are on a CPU or wait for one.
    fn others_on_cpu(&self, session: u32) -> u32 {
        let own = &self.processes[session as usize];
        let in_state = |state: State| self.tally.states[state as usize].count();
        let itself = matches!(own.state, State::OnCpu | State::RunQueue | State::Client);
        in_state(State::OnCpu) + in_state(State::RunQueue) + in_state(State::Client)
            - u32::from(itself)
    }

    pub(super) fn next_part(&mut self, session: u32) -> u64 {
        let own = &mut self.processes[session as usize];
        own.phase = Phase::Work;
        // What commits is a client's last statement, from its sending on.
        own.committing_ns = self.now_ns;
        if own.parts == 1 { own.last_part_ns } else { own.part_ns }
    }

    pub(super) fn part_done(&mut self, session: u32) -> Option<u64> {
        let own = &mut self.processes[session as usize];
        own.parts -= 1;
        let last = own.parts == 0;
        let first = own.parts + 1 == self.prepared.parts;
        let writes_first = match self.parameters.rows {
            ..=1 => last,
            _ => first && !last,
        };
        if writes_first {
            self.active += 1;
        }
        self.logs[0].inserted +=
            if last { self.prepared.last_part_bytes } else { self.prepared.part_bytes };
        (own.log, own.needs) = (0, self.logs[0].inserted);
        if last {
            return self.commit(session);
        }
        self.part_answered(session)
    }

    /// The server is done with a part that is not the last.
    pub(super) fn part_answered(&mut self, session: u32) -> Option<u64> {
        if self.has_client() {
            self.tell_client(session, false);
            return None;
        }
        Some(self.next_part(session))
    }

    pub(super) fn commit(&mut self, session: u32) -> Option<u64> {
        if self.parameters.statements == 0 {
            self.processes[session as usize].committing_ns = self.now_ns;
        }
        if !self.parameters.asynchronous {
            return self.take_log(session);
        }
        if self.writer_is_due() {
            self.start_writer();
        }
        self.finish(session)
    }

    pub(super) fn is_committing(&self, session: u32) -> bool {
        self.processes[session as usize].parts == 0
    }

    /// The server is done with a transaction.
    pub(super) fn finish(&mut self, session: u32) -> Option<u64> {
        self.active -= 1;
        if self.has_client() {
            self.tell_client(session, false);
            return None;
        }
        self.acknowledged(session)
    }

    /// A transaction is over. Returns the CPU time that the session asks for next, if it goes on at once.
    pub(super) fn acknowledged(&mut self, session: u32) -> Option<u64> {
        let own = &self.processes[session as usize];
        let (committing_ns, arrived_ns) = (own.committing_ns, own.arrived_ns);
        self.count(self.now_ns - committing_ns, self.now_ns - arrived_ns);
        if self.prepared.burst.is_none() {
            return self.pause(session);
        }
        if let Some(arrived_ns) = self.backlog.pop_front() {
            self.tally.backlog.leave(self.now_ns);
            return Some(self.begin(session, arrived_ns));
        }
        self.set_state(session, State::Idle);
        self.is_idle(session);
        None
    }

    pub(super) fn is_idle(&mut self, session: u32) {
        let stack = session as usize % self.idle_sessions.len();
        self.idle_sessions[stack].push(session);
    }

    /// The session that became idle last, of the client's threads in turn.
    fn take_idle(&mut self) -> Option<u32> {
        for _ in 0..self.idle_sessions.len() {
            let stack = self.idle_turn;
            self.idle_turn = (stack + 1) % self.idle_sessions.len();
            if let Some(session) = self.idle_sessions[stack].pop() {
                return Some(session);
            }
        }
        None
    }

    pub(super) fn pause(&mut self, session: u32) -> Option<u64> {
        let think_ns = self.draws.pause.draw();
        if think_ns == 0 {
            return Some(self.begin(session, self.now_ns));
        }
        self.set_state(session, State::Idle);
        self.events.at(self.now_ns + think_ns, Event::Thought { session });
        None
    }

    pub(super) fn arrive(&mut self) {
        self.announce_arrival();
        for _ in 0..self.prepared.burst.unwrap_or(0) {
            self.tally.arrivals += 1;
            if let Some(session) = self.take_idle() {
                self.begin_by_timer(session);
            } else {
                self.tally.backlog.enter(self.now_ns);
                self.backlog.push_back(self.now_ns);
            }
        }
    }

    /// A transaction that comes from outside: its client hears of it first.
    pub(super) fn begin_by_timer(&mut self, session: u32) {
        let work_ns = self.begin(session, self.now_ns);
        if self.has_client() {
            self.tell_client(session, true);
        } else {
            self.run(session, work_ns, By::Another);
        }
    }

    pub(super) fn announce_arrival(&mut self) {
        let gap_ns = self.draws.pause.draw();
        self.events.at(self.now_ns + gap_ns, Event::Arrival);
    }

    pub(super) fn count(&mut self, commit_time_ns: u64, response_time_ns: u64) {
        if self.over {
            return;
        }
        if self.warm_up_left > 0 {
            self.warm_up_left -= 1;
            if self.warm_up_left == 0 {
                self.tally.begin(self.now_ns);
            }
            return;
        }
        if self.tally.committed(commit_time_ns, response_time_ns) == self.plan.commits_per_batch {
            self.over = self.tally.close_batch(self.now_ns) == self.plan.batches as usize;
        }
    }
}

/// One of `count` equal shares.
fn share(ns: u64, count: u32) -> u64 {
    // Most often there is one, and a division takes as long as all else in the beginning of a transaction.
    if count == 1 { ns } else { ns / u64::from(count) }
}
