//! From event to event: what happens, who has a CPU then, and what comes next for him.

use super::process::Phase;
use super::state::Simulation;
use crate::cpu::{By, Next, Started, Work};
use crate::events::Event;
use crate::tally::State;

impl Simulation<'_> {
    pub(super) fn start(&mut self) {
        self.announce_tick();
        self.announce_balance();
        if self.prepared.burst.is_some() {
            (0..self.parameters.sessions).rev().for_each(|session| self.is_idle(session));
            self.announce_arrival();
            return;
        }
        for session in 0..self.parameters.sessions {
            if let Some(work_ns) = self.pause(session) {
                if self.has_client() {
                    self.tell_client(session, false);
                } else {
                    self.run(session, work_ns, By::Itself);
                }
            }
        }
    }

    pub(super) fn next_event(&mut self) -> Option<(u64, Event)> {
        if self.over { None } else { self.events.next() }
    }

    pub(super) fn happens(&mut self, event: Event) {
        match event {
            Event::Slice { server } => self.slice_ends(server),
            Event::DeviceDone { device } => self.device_is_done(device),
            Event::Delayed { log } => self.delay_is_over(log),
            Event::Thought { session } => self.begin_by_timer(session),
            Event::Arrival => self.arrive(),
            Event::Balance => {
                if let Some(started) = self.cpu.balance(self.now_ns) {
                    self.tally.cpu_busy.enter(self.now_ns);
                    self.starts(started);
                }
                self.announce_balance();
            }
            Event::WriterTick => {
                self.tick_announced = false;
                if self.logs[0].inserted == self.logs[0].flushed || !self.start_writer() {
                    self.announce_tick();
                }
            }
        }
    }

    /// Ask for CPU time. No CPU time does not pass through the station.
    pub(super) fn run(&mut self, process: u32, mut work_ns: u64, by: By) {
        while work_ns == 0 {
            match self.step(process) {
                Some(next_ns) => work_ns = next_ns,
                None => return,
            }
        }
        if self.stepping == Some(process) {
            self.asked_again_ns = Some(work_ns);
            return;
        }
        let work = self.work(process, work_ns);
        if let Some(started) = self.cpu.ask(process, work, by, self.now_ns) {
            match started.preempted {
                None => self.tally.cpu_busy.enter(self.now_ns),
                Some(preempted) => self.set_state(preempted, State::RunQueue),
            }
            if started.after_idling && matches!(by, By::Another | By::Session { .. }) {
                self.is_cold(process);
            }
            self.starts(started);
        } else {
            self.set_state(process, State::RunQueue);
        }
    }

    /// Only its transaction's own work is not done in the kernel.
    fn work(&self, process: u32, ns: u64) -> Work {
        let own = self.processes.get(process as usize);
        Work { ns, kernel: own.is_some_and(|own| own.phase != Phase::Work) }
    }

    fn starts(&mut self, started: Started) {
        let Started { server, process, slice_ns, .. } = started;
        self.set_state(process, State::OnCpu);
        self.events.at(self.now_ns + slice_ns, Event::Slice { server });
    }

    /// The next transaction of a session takes longer.
    pub(super) fn is_cold(&mut self, process: u32) {
        if let Some(process) = self.processes.get_mut(process as usize) {
            process.cold = true;
        }
    }

    fn announce_balance(&mut self) {
        if self.parameters.balance_s.ns() > 0 {
            self.events.at(self.now_ns + self.parameters.balance_s.ns(), Event::Balance);
        }
    }

    fn slice_ends(&mut self, server: u32) {
        let Some(process) = self.cpu.slice_of(server, self.now_ns) else { return };
        let mut more_ns = Some(0);
        if self.cpu.end_slice(server) == Next::Done {
            self.stepping = Some(process);
            more_ns = self.step(process);
            while more_ns == Some(0) {
                more_ns = self.step(process);
            }
            self.stepping = None;
            more_ns = more_ns.or(self.asked_again_ns.take());
        }
        if let Some(more_ns) = more_ns {
            self.set_state(process, State::OnCpu);
            let more = self.work(process, more_ns);
            if let Some(slice_ns) = self.cpu.go_on(server, more, self.now_ns) {
                self.events.at(self.now_ns + slice_ns, Event::Slice { server });
                return;
            }
            self.set_state(process, State::RunQueue);
        }
        if let Some(started) = self.cpu.next(server, self.now_ns) {
            self.starts(started);
        } else {
            self.tally.cpu_busy.leave(self.now_ns);
        }
    }

    pub(super) fn set_state(&mut self, process: u32, state: State) {
        if process < self.parameters.sessions {
            let before = std::mem::replace(&mut self.processes[process as usize].state, state);
            if before != state {
                self.tally.states[before as usize].leave(self.now_ns);
                self.tally.states[state as usize].enter(self.now_ns);
            }
        }
    }

    /// A process has the CPU time it asked for: what comes then. Returns the CPU time it asks for
    /// next, or nothing if it leaves the CPU.
    fn step(&mut self, process: u32) -> Option<u64> {
        if process >= self.first_thread() {
            return self.client_step(process);
        }
        match self.processes[process as usize].phase {
            Phase::Work => self.part_done(process),
            Phase::Woken => self.woken(process),
            Phase::Served => self.has_log(process),
            Phase::Delayed => Some(self.begin_flush(process)),
            Phase::Flush => self.start_device(process),
            Phase::Flushing => self.wait_on(process),
            Phase::Flushed => self.flushed(process),
            Phase::Post => self.next_post(process),
        }
    }
}
