//! The log: who owns it, who waits for it, and what is flushed.
//!
//! Whoever commits when the log is free becomes the leader and flushes everything inserted so far;
//! who comes meanwhile waits. The leader releases the log when it has woken up after its flush:
//! then all who wait wake, the latest first. Those it served go on; of the others the first on a
//! CPU leads, unless somebody who never slept came first, and the rest sleep again. This is
//! `XLogFlush` and `LWLockAcquireOrWait` of PostgreSQL, where waiters of that kind are put at the
//! head of the list. Without group commit the log goes from hand to hand in the order of asking.

use super::after_idle::more_ns;
use super::process::Phase;
use super::state::Simulation;
use crate::cpu::By;
use crate::events::Event;
use crate::rounding::scaled;
use crate::tally::State;

/// Parts of a flush's CPU time of which one is spent between its two waits for the device, as measured.
const BETWEEN_WAITS: u64 = 5;
/// Of a wait for the device, the largest part that its interrupt costs whom it interrupts: were it all of it,
/// one who is interrupted at each flush of another would never get anything done.
const MOST_INTERRUPT: f64 = 2.0 / 3.0;

impl Simulation<'_> {
    pub(super) fn take_log(&mut self, session: u32) -> Option<u64> {
        if self.log.owner.is_none() {
            self.log.owner = Some(session);
            return self.lead(session);
        }
        self.log.waiting.push(session);
        self.tally.log_waits += 1;
        self.set_state(session, State::LogWait);
        None
    }

    /// The log is this process's now.
    pub(super) fn lead(&mut self, process: u32) -> Option<u64> {
        let writer = process == self.writer();
        let delay_ns = self.parameters.commit_delay_ns;
        if !writer && delay_ns > 0 && self.active > self.parameters.commit_siblings {
            self.set_state(process, State::Delay);
            self.events.at(self.now_ns + delay_ns, Event::Delayed);
            return None;
        }
        Some(self.begin_flush(process))
    }

    pub(super) fn begin_flush(&mut self, process: u32) -> u64 {
        self.flush_began_ns = self.now_ns;
        let own = &mut self.processes[process as usize];
        own.phase = Phase::Flush;
        let alone = !self.parameters.group_commit && process < self.parameters.sessions;
        self.log.target = if alone { own.needs } else { self.log.inserted };
        self.parameters.flush_cpu_ns - self.between_waits_ns()
    }

    /// CPU time of a flush between its two waits for the device.
    fn between_waits_ns(&self) -> u64 {
        match self.parameters.device_write_ns {
            0 => 0,
            _ => self.parameters.flush_cpu_ns / BETWEEN_WAITS,
        }
    }

    /// The device begins to write, and then to flush.
    pub(super) fn start_device(&mut self, process: u32) -> Option<u64> {
        let bytes = self.log.target - self.log.flushed;
        let idle_ns = self.now_ns - self.device_idle_since_ns;
        let device_ns = self.draws.device.draw()
            + scaled(bytes, self.parameters.device_ns_per_byte)
            + more_ns(&self.parameters.device_after_idle_ns, idle_ns);
        let first_ns = match self.parameters.device_write_ns {
            0 => device_ns,
            write_ns => write_ns.min(device_ns / 2),
        };
        self.device_left_ns = device_ns - first_ns;
        self.device_done_ns = self.now_ns + device_ns + self.between_waits_ns();
        self.wait_for_device(process, first_ns)
    }

    /// Between its two waits a flush has had its CPU time.
    pub(super) fn wait_on(&mut self, process: u32) -> Option<u64> {
        let left_ns = std::mem::take(&mut self.device_left_ns);
        if self.parameters.device_paced {
            self.wait_for_device(process, self.device_done_ns.saturating_sub(self.now_ns))
        } else {
            self.wait_for_device(process, left_ns)
        }
    }

    fn wait_for_device(&mut self, process: u32, ns: u64) -> Option<u64> {
        self.tally.device_busy.enter(self.now_ns);
        self.set_state(process, State::Device);
        // The device's time was measured where the CPU that it tells idled, whose waking up is the end of it.
        self.told_after_ns = self.cpu.told_after_ns().min(ns);
        self.interrupt_ns = self.parameters.interrupt_ns.min(scaled(ns, MOST_INTERRUPT));
        self.events.at(self.now_ns + ns - self.told_after_ns, Event::DeviceDone);
        None
    }

    pub(super) fn device_is_done(&mut self) {
        let told_after_ns = std::mem::take(&mut self.told_after_ns);
        if told_after_ns > 0 && self.cpu.told_idles() {
            self.events.at(self.now_ns + told_after_ns, Event::DeviceDone);
            return;
        }
        self.tally.device_busy.leave(self.now_ns);
        if let Some(owner) = self.log.owner {
            self.is_cold(owner);
            self.interrupt(owner);
        }
        if self.device_left_ns > 0 {
            self.wake_owner(Phase::Flushing, self.between_waits_ns(), By::Device);
        } else {
            self.tally.flushes += 1;
            self.device_idle_since_ns = self.now_ns;
            self.wake_owner(Phase::Flushed, self.parameters.wake_ns, By::Device);
        }
    }

    /// Who runs where the device tells that it is done for a process has more to do.
    fn interrupt(&mut self, process: u32) {
        if let Some((server, slice_ns)) =
            self.cpu.interrupt(process, self.interrupt_ns, self.now_ns)
        {
            self.events.at(self.now_ns + slice_ns, Event::Slice { server });
        }
    }

    pub(super) fn wake_owner(&mut self, phase: Phase, work_ns: u64, by: By) {
        if let Some(owner) = self.log.owner {
            self.processes[owner as usize].phase = phase;
            self.run(owner, work_ns, by);
        }
    }

    /// Free the log and wake those who wait for it. Returns what CPU time the releaser asks for next.
    pub(super) fn release_log(&mut self, releaser: u32) -> Option<u64> {
        self.log.owner = None;
        let mut woken = std::mem::take(&mut self.to_wake[releaser as usize]);
        if self.parameters.group_commit {
            std::mem::swap(&mut woken, &mut self.log.waiting);
        } else {
            self.next_in_line(&mut woken);
        }
        self.to_wake[releaser as usize] = woken;
        self.processes[releaser as usize].phase = Phase::Post;
        self.next_post(releaser)
    }

    /// Who releases the log wakes the others one by one, for `post_ns` each. Returns what CPU time the releaser
    /// asks for next.
    pub(super) fn next_post(&mut self, releaser: u32) -> Option<u64> {
        while let Some(waiter) = self.to_wake[releaser as usize].pop() {
            self.processes[waiter as usize].phase = Phase::Woken;
            self.run(waiter, self.parameters.wake_ns, By::Session { waker: releaser });
            if self.parameters.post_ns > 0 {
                return Some(self.parameters.post_ns);
            }
        }
        self.has_log(releaser)
    }

    /// Without group commit the longest waiting has the log next.
    pub(super) fn next_in_line(&mut self, woken: &mut Vec<u32>) {
        if !self.log.waiting.is_empty() {
            let next = self.log.waiting.remove(0);
            self.log.owner = Some(next);
            woken.push(next);
        }
    }

    /// A process woke up and has the log flushed as far as it needs.
    pub(super) fn is_served(&mut self, process: u32) -> Option<u64> {
        if self.parameters.served_ns == 0 {
            return self.has_log(process);
        }
        self.processes[process as usize].phase = Phase::Served;
        Some(self.parameters.served_ns)
    }

    /// A process has the log flushed as far as it needs.
    pub(super) fn has_log(&mut self, process: u32) -> Option<u64> {
        if process == self.writer() {
            if !self.writer_is_due() || !self.start_writer() {
                self.announce_tick();
            }
            None
        } else {
            self.finish(process)
        }
    }
}
