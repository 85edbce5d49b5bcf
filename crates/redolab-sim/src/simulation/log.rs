//! The logs: who owns one, who waits for it, and what is flushed.
//!
//! Whoever commits when the log is free becomes the leader and flushes everything inserted so far;
//! who comes meanwhile waits. The leader releases the log when it has woken up after its flush:
//! then all who wait wake, the latest first. Those it served go on; of the others the first on a
//! CPU leads, unless somebody who never slept came first, and the rest sleep again. This is
//! `XLogFlush` and `LWLockAcquireOrWait` of PostgreSQL, where waiters of that kind are put at the
//! head of the list. Where the log is handed on, the leader wakes those it served and the next
//! leader, and nobody in vain: `group_commit_lock` of InnoDB, and the queue of the binary log.
//! Without group commit the log goes from hand to hand in the order of asking.
//!
//! With a second log all this happens there again, for who has the first. Where groups stay
//! together (MySQL's `Commit_stage_manager`), only their leader goes on to it, for all of them.

use super::process::Phase;
use super::state::Simulation;
use crate::cpu::By;
use crate::events::Event;
use crate::tally::State;

impl Simulation<'_> {
    pub(super) fn take_log(&mut self, session: u32) -> Option<u64> {
        let at = self.processes[session as usize].log;
        let log = &mut self.logs[at as usize];
        if log.owner.is_none() {
            log.owner = Some(session);
            return self.lead(session);
        }
        log.waiting.push(session);
        self.tally.log_waits += 1;
        self.set_state(session, State::LogWait);
        if self.logs[at as usize].has_enough() {
            self.end_pause(at);
        }
        None
    }

    /// The log is this process's now.
    pub(super) fn lead(&mut self, process: u32) -> Option<u64> {
        let at = self.processes[process as usize].log;
        let writer = process == self.writer();
        let log = &mut self.logs[at as usize];
        let pause_ns = log.rules.pause_ns;
        if !writer && pause_ns > 0 && self.active > log.rules.siblings && !log.has_enough() {
            log.paused_until_ns = Some(self.now_ns + pause_ns);
            self.set_state(process, State::Delay);
            self.events.at(self.now_ns + pause_ns, Event::Delayed { log: at });
            return None;
        }
        Some(self.begin_flush(process))
    }

    /// The time of a pause has come, which may have ended before.
    pub(super) fn delay_is_over(&mut self, log: u32) {
        if self.logs[log as usize].paused_until_ns == Some(self.now_ns) {
            self.end_pause(log);
        }
    }

    fn end_pause(&mut self, log: u32) {
        if self.logs[log as usize].paused_until_ns.take().is_some() {
            self.wake_owner(log, Phase::Delayed, self.parameters.wake_s.ns(), By::Another);
        }
    }

    pub(super) fn begin_flush(&mut self, process: u32) -> u64 {
        let own = &mut self.processes[process as usize];
        own.phase = Phase::Flush;
        let alone = !self.parameters.group_commit && process < self.parameters.sessions;
        let (at, needs) = (own.log, own.needs);
        let log = &mut self.logs[at as usize];
        log.flush_began_ns = self.now_ns;
        log.target = if alone { needs } else { log.inserted };
        log.rules.flush_cpu_ns - self.between_waits_ns(at)
    }

    pub(super) fn wake_owner(&mut self, log: u32, phase: Phase, work_ns: u64, by: By) {
        if let Some(owner) = self.logs[log as usize].owner {
            self.processes[owner as usize].phase = phase;
            self.run(owner, work_ns, by);
        }
    }

    /// A flush is done and its leader back. Returns what CPU time he asks for next.
    pub(super) fn flushed(&mut self, leader: u32) -> Option<u64> {
        let at = self.processes[leader as usize].log;
        let log = &mut self.logs[at as usize];
        log.flushed = log.target;
        if at == 0 {
            self.tally.flush_ns += self.now_ns - log.flush_began_ns;
        }
        self.release_log(leader)
    }

    /// Free the log and wake those who wait for it. Returns what CPU time the releaser asks for next.
    fn release_log(&mut self, releaser: u32) -> Option<u64> {
        let log = &mut self.logs[self.processes[releaser as usize].log as usize];
        log.owner = None;
        let mut woken = std::mem::take(&mut self.to_wake[releaser as usize]);
        if !self.parameters.group_commit {
            self.next_in_line(releaser, &mut woken);
        } else if self.parameters.handed_on {
            self.part_served(releaser, &mut woken);
            self.next_in_line(releaser, &mut woken);
        } else {
            std::mem::swap(&mut woken, &mut log.waiting);
        }
        self.to_wake[releaser as usize] = woken;
        self.processes[releaser as usize].phase = Phase::Post;
        self.next_post(releaser)
    }

    /// Those whom the releaser served wait no more: they are woken, or go on as his group.
    fn part_served(&mut self, releaser: u32, woken: &mut Vec<u32>) {
        let at = self.processes[releaser as usize].log;
        let in_groups = self.parameters.second.as_ref().is_some_and(|second| second.in_groups);
        let group = &mut self.groups[releaser as usize];
        let served =
            if in_groups && at == 0 && releaser < self.parameters.sessions { group } else { woken };
        let log = &mut self.logs[at as usize];
        let flushed = log.flushed;
        let processes = &self.processes;
        log.waiting.retain(|&waiter| {
            let waits = processes[waiter as usize].needs > flushed;
            if !waits {
                served.push(waiter);
            }
            waits
        });
    }

    /// The longest waiting has the log next.
    fn next_in_line(&mut self, releaser: u32, woken: &mut Vec<u32>) {
        let log = &mut self.logs[self.processes[releaser as usize].log as usize];
        if !log.waiting.is_empty() {
            let next = log.waiting.remove(0);
            log.owner = Some(next);
            woken.push(next);
        }
    }

    /// Who releases the log wakes the others one by one, for `post_ns` each. Returns what CPU time the releaser
    /// asks for next.
    pub(super) fn next_post(&mut self, releaser: u32) -> Option<u64> {
        while let Some(waiter) = self.to_wake[releaser as usize].pop() {
            self.processes[waiter as usize].phase = Phase::Woken;
            self.run(waiter, self.parameters.wake_s.ns(), By::Session { waker: releaser });
            if self.parameters.post_s.ns() > 0 {
                return Some(self.parameters.post_s.ns());
            }
        }
        self.has_log(releaser)
    }

    /// A process woke up because of the log. Returns what CPU time it asks for next.
    pub(super) fn woken(&mut self, process: u32) -> Option<u64> {
        let own = &self.processes[process as usize];
        let log = &self.logs[own.log as usize];
        if log.owner == Some(process) {
            self.lead(process)
        } else if log.serves(own) {
            self.is_served(process)
        } else {
            self.take_log(process)
        }
    }

    /// A process woke up and has the log flushed as far as it needs.
    fn is_served(&mut self, process: u32) -> Option<u64> {
        if self.parameters.served_s.ns() == 0 {
            return self.has_log(process);
        }
        self.processes[process as usize].phase = Phase::Served;
        Some(self.parameters.served_s.ns())
    }

    /// A process has the log flushed as far as it needs.
    pub(super) fn has_log(&mut self, process: u32) -> Option<u64> {
        if process == self.writer() {
            if !self.writer_is_due() || !self.start_writer() {
                self.announce_tick();
            }
            None
        } else if self.processes[process as usize].log as usize + 1 < self.logs.len() {
            self.go_on_to_second(process)
        } else {
            self.finish(process)
        }
    }

    /// A session has the first log, and asks for the second; with its group, if it leads one.
    fn go_on_to_second(&mut self, session: u32) -> Option<u64> {
        let mut group = std::mem::take(&mut self.groups[session as usize]);
        for &one in std::iter::once(&session).chain(&group) {
            self.logs[1].inserted += 1;
            let own = &mut self.processes[one as usize];
            (own.log, own.needs) = (1, self.logs[1].inserted);
        }
        let asked_ns = self.take_log(session);
        self.logs[1].waiting.append(&mut group);
        self.groups[session as usize] = group;
        asked_ns
    }
}
