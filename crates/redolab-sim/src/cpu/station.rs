//! All CPUs: who gets one, until when, and who has to wait.

use super::fair::Fair;
use super::load::Load;
use super::own_queues::OwnQueues;
use super::placement::Placement;
use super::request::{By, Ready, Work};
use super::server::Server;
use crate::parameters::Parameters;
use crate::rounding::scaled;

/// A process that has a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Started {
    pub server: u32,
    pub process: u32,
    /// From now to the end of its first slice.
    pub slice_ns: u64,
    /// Whether the CPU had idled.
    pub after_idling: bool,
    /// Who was on it and waits for it now.
    pub preempted: Option<u32>,
}

/// What a server does when a slice is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The process has all it asked for.
    Done,
    /// The process asks for more: `go_on`.
    More,
}

/// No process.
const NOBODY: u32 = u32::MAX;

/// CPUs and the queues before them.
#[derive(Debug)]
pub struct Cpu {
    servers: Vec<Server>,
    /// Servers that idle, the one that does so shortest last.
    idle: Vec<u32>,
    /// Where all have the same queue (the first one's) there is nothing to decide.
    own_queues: Option<OwnQueues>,
    quantum_ns: u64,
    idle_exit_ns: u64,
    halt_exit_ns: u64,
    halt_after_ns: u64,
    /// Elapsed time per CPU time.
    slowness: f64,
}

impl Cpu {
    /// The CPUs of `parameters`, for at most `processes` processes.
    #[expect(
        clippy::cast_sign_loss,
        clippy::cast_possible_truncation,
        reason = "checked to be small"
    )]
    pub fn new(parameters: &Parameters, processes: usize) -> Self {
        let servers = parameters.cpus.ceil() as u32;
        Self {
            servers: vec![Server::default(); servers as usize],
            idle: (0..servers).rev().collect(),
            own_queues: parameters.own_queues.then(|| OwnQueues {
                placement: Placement::new(parameters, servers, processes as u32),
                fair: Fair::new(parameters.quantum_s.ns(), servers as usize, processes),
                load: Load::new(servers as usize, processes),
            }),
            quantum_ns: parameters.quantum_s.ns(),
            idle_exit_ns: parameters.idle_exit_s.ns(),
            halt_exit_ns: parameters.halt_exit_s.ns(),
            halt_after_ns: parameters.halt_after_s.ns(),
            slowness: f64::from(servers) / parameters.cpus,
        }
    }

    pub fn servers(&self) -> usize {
        self.servers.len()
    }

    /// Whose slice ends on a server; nobody's if he was preempted since it was announced.
    pub fn slice_of(&self, server: u32, now_ns: u64) -> Option<u32> {
        let on = &self.servers[server as usize];
        (on.busy && on.ends_ns == now_ns).then_some(on.process)
    }

    /// Returns who has a CPU now; nothing if he has to wait.
    pub fn ask(&mut self, process: u32, work: Work, by: By, now_ns: u64) -> Option<Started> {
        let place = match &mut self.own_queues {
            None => self.idle.last().copied().unwrap_or(0),
            Some(own) => own.place_of(process, by, &self.servers, now_ns),
        };
        let on = &mut self.servers[place as usize];
        let ready = Ready { process, work };
        if !on.busy {
            let idled_ns = on.idled_ns(now_ns);
            let exit_ns = self.exit_for(by, place, idled_ns);
            if let Some(own) = &mut self.own_queues {
                own.fair.arrives(process, place, &self.servers[place as usize]);
            }
            return Some(self.end_idling(place, exit_ns, ready, now_ns));
        }
        if self.own_queues.is_none() {
            on.ready.push_back(ready);
            return None;
        }
        self.wait_or_preempt(place, ready, now_ns)
    }

    /// How long the place of one who asks, which idles, takes to be there for him.
    fn exit_for(&self, by: By, place: u32, idled_ns: u64) -> u64 {
        match by {
            By::Another | By::Session { .. } => self.exit_ns(idled_ns),
            // The CPU that the device tells is busy, and wakes this one.
            By::Device if self.device_tells_another(place) => self.exit_ns(idled_ns),
            By::OtherSide { exit_ns, .. } if idled_ns > 0 => exit_ns,
            _ => 0,
        }
    }

    fn device_tells_another(&self, place: u32) -> bool {
        self.told().is_some_and(|told| told != place)
    }

    /// The server that the device tells that it is done.
    fn told(&self) -> Option<u32> {
        self.own_queues.as_ref()?.placement.device_cpu
    }

    /// How long that one takes to be there if it idles.
    pub fn told_after_ns(&self) -> u64 {
        self.told().map_or(0, |_| self.idle_exit_ns)
    }

    pub fn told_idles(&self) -> bool {
        self.told().is_some_and(|told| !self.servers[told as usize].busy)
    }

    /// The device tells that it is done for a process: its own server, where it has one, or the process's last.
    /// Who is there has `ns` more to do. Returns where that is, and after how long his slice ends.
    pub fn interrupt(&mut self, process: u32, ns: u64, now_ns: u64) -> Option<(u32, u64)> {
        let Placement { device_cpu, last, .. } = &self.own_queues.as_ref()?.placement;
        let server = device_cpu.unwrap_or(last[process as usize]);
        let on = &mut self.servers[server as usize];
        if !on.busy || ns == 0 {
            return None;
        }
        on.work.ns += ns;
        on.slice_ns += ns;
        on.ends_ns += scaled(ns, self.slowness);
        Some((server, on.ends_ns - now_ns))
    }

    /// Who was woken up waits at a server, or has it at once. Returns whether he has.
    fn wait_or_preempt(&mut self, server: u32, ready: Ready, now_ns: u64) -> Option<Started> {
        self.charge(server, now_ns);
        let own = self.own_queues.as_mut()?;
        let on = &mut self.servers[server as usize];
        own.fair.arrives(ready.process, server, on);
        own.fair.waits(ready.process, server);
        on.ready.push_back(ready);
        if !own.fair.preempts(server, on) {
            return None;
        }
        if on.work.ns == 0 || on.work.kernel {
            on.gives_way = true;
            return None;
        }
        let preempted = self.wait_again(server, now_ns);
        let started = self.start_next(server, now_ns)?;
        Some(Started { preempted: Some(preempted), ..started })
    }

    /// Note what the process of a server has had of its slice.
    fn charge(&mut self, server: u32, now_ns: u64) {
        let on = &mut self.servers[server as usize];
        let elapsed_ns = now_ns.saturating_sub(on.work_from_ns);
        let had_ns = scaled(elapsed_ns, 1.0 / self.slowness).min(on.slice_ns);
        on.work_from_ns = on.work_from_ns.max(now_ns);
        self.has_had(server, had_ns);
    }

    /// The process of a server has had so much of its slice.
    fn has_had(&mut self, server: u32, ns: u64) {
        let on = &mut self.servers[server as usize];
        on.slice_ns -= ns;
        on.work.ns -= ns;
        on.used_ns += ns;
        if let Some(own) = &mut self.own_queues {
            own.fair.charge(on.process, ns);
        }
    }

    /// Whose queue those wait in who want this server.
    fn queue_of(&self, server: u32) -> usize {
        if self.own_queues.is_some() { server as usize } else { 0 }
    }

    /// The process of a server goes back to its queue. Returns who that is.
    fn wait_again(&mut self, server: u32, now_ns: u64) -> u32 {
        let queue = self.queue_of(server);
        let on = &mut self.servers[server as usize];
        let ready = Ready { process: on.process, work: on.work };
        (on.process, on.busy) = (NOBODY, false);
        if let Some(own) = &mut self.own_queues {
            own.fair.waits(ready.process, server);
            own.placement.leaves(ready.process, now_ns);
        }
        self.servers[queue].ready.push_back(ready);
        ready.process
    }

    /// A server that idles takes up a process, for whom it is there after `exit_ns`.
    fn end_idling(&mut self, server: u32, exit_ns: u64, ready: Ready, now_ns: u64) -> Started {
        let after_idling = self.servers[server as usize].idled_ns(now_ns) > 0;
        self.no_longer_idle(server, now_ns);
        Started { after_idling, ..self.take_up(server, exit_ns, ready, now_ns) }
    }

    fn no_longer_idle(&mut self, server: u32, now_ns: u64) {
        if let Some(OwnQueues { placement, .. }) = &mut self.own_queues {
            placement.idled(self.servers[server as usize].idle_since_ns, now_ns);
        }
        // With one queue it is the last.
        if self.idle.last() == Some(&server) {
            self.idle.pop();
        } else if let Some(place) = self.idle.iter().rposition(|&idle| idle == server) {
            self.idle.remove(place);
        }
    }

    /// How long a server that has idled so long takes to be there for who is woken up.
    fn exit_ns(&self, idled_ns: u64) -> u64 {
        match idled_ns {
            0 => 0,
            _ if idled_ns <= self.halt_after_ns => self.idle_exit_ns,
            _ => self.halt_exit_ns,
        }
    }

    /// A server has nobody any more. Returns who it takes up.
    pub fn next(&mut self, server: u32, now_ns: u64) -> Option<Started> {
        let on = &mut self.servers[server as usize];
        if let Some(OwnQueues { placement, fair, load }) = &mut self.own_queues {
            if on.process != NOBODY {
                fair.leaves(on.process, server, on);
                load.sleeps(on.process, server, now_ns);
                placement.leaves(on.process, now_ns);
            }
        }
        (on.process, on.busy) = (NOBODY, false);
        let started = self.start_next(server, now_ns);
        if started.is_none() {
            self.servers[server as usize].idle_since_ns = now_ns;
            self.idle.push(server);
        }
        started
    }

    /// The next of those who wait at a server has it.
    fn start_next(&mut self, server: u32, now_ns: u64) -> Option<Started> {
        let ready = match &mut self.own_queues {
            None => self.servers[0].ready.pop_front(),
            Some(OwnQueues { fair, .. }) => {
                let on = &mut self.servers[server as usize];
                let ready = fair.first(server, on).and_then(|place| on.ready.remove(place));
                ready.inspect(|ready| fair.waits_no_more(ready.process, server))
            }
        }?;
        Some(self.take_up(server, 0, ready, now_ns))
    }

    /// A server that idles takes over one of those who wait at another, if the scheduler lets it.
    fn take_over(&mut self, server: u32, from: u32, now_ns: u64) -> Option<Ready> {
        let OwnQueues { placement, fair, load } = self.own_queues.as_mut()?;
        let ready = &self.servers[from as usize].ready;
        let place = placement.takes_over(ready, now_ns)?;
        let process = ready[place].process;
        let [from_on, on] = [from, server].map(|one| &self.servers[one as usize]);
        fair.moves(process, (from, from_on), (server, on));
        load.taken(process, from, server, now_ns);
        self.servers[from as usize].ready.remove(place)
    }

    /// Let a server that idles look who waits elsewhere, as a scheduler does at times. Returns whom it took up.
    pub fn balance(&mut self, now_ns: u64) -> Option<Started> {
        let placement = &mut self.own_queues.as_mut()?.placement;
        placement.look(&self.servers, now_ns);
        let servers = || (0_u32..).zip(&self.servers);
        let (server, on) = servers().find(|(_, server)| !server.busy)?;
        let idled_ns = on.idled_ns(now_ns);
        let (from, busiest) = servers().max_by_key(|(_, server)| server.ready.len())?;
        if busiest.ready.is_empty() {
            placement.looks_in_vain = 0;
            return None;
        }
        let Some(ready) = self.take_over(server, from, now_ns) else {
            // It is awake now.
            self.servers[server as usize].idle_since_ns = now_ns;
            return None;
        };
        Some(self.end_idling(server, self.exit_ns(idled_ns), ready, now_ns))
    }

    /// Put a process on a server, which is there for him after `before_ns`.
    fn take_up(&mut self, server: u32, before_ns: u64, ready: Ready, now_ns: u64) -> Started {
        let Ready { process, work } = ready;
        if let Some(OwnQueues { placement, .. }) = &mut self.own_queues {
            placement.last[process as usize] = server;
        }
        let used_ns = self.own_queues.as_ref().map_or(0, |own| own.fair.used_ns(process));
        let on = &mut self.servers[server as usize];
        (on.process, on.work, on.used_ns) = (process, work, used_ns);
        (on.gives_way, on.busy) = (false, true);
        let slice_ns = self.slice(server, now_ns + before_ns) + before_ns;
        Started { server, process, slice_ns, after_idling: false, preempted: None }
    }

    /// A slice is over.
    pub fn end_slice(&mut self, server: u32) -> Next {
        self.has_had(server, self.servers[server as usize].slice_ns);
        let on = &mut self.servers[server as usize];
        if on.used_ns >= self.quantum_ns {
            (on.used_ns, on.gives_way) = (0, true);
        }
        if on.work.ns == 0 { Next::Done } else { Next::More }
    }

    /// The process that is there asks for more. Returns after how long its next slice ends; nothing
    /// if it gives way to others that wait: then it is in the queue.
    pub fn go_on(&mut self, server: u32, more: Work, now_ns: u64) -> Option<u64> {
        let others_wait = !self.servers[self.queue_of(server)].ready.is_empty();
        let on = &mut self.servers[server as usize];
        on.work = Work { ns: on.work.ns + more.ns, ..more };
        if std::mem::take(&mut on.gives_way) && others_wait {
            self.wait_again(server, now_ns);
            return None;
        }
        Some(self.slice(server, now_ns))
    }

    /// The process of a server has it from `from_ns` on. Returns after how long from then its slice ends.
    fn slice(&mut self, server: u32, from_ns: u64) -> u64 {
        let on = &mut self.servers[server as usize];
        on.slice_ns = on.work.ns.min(self.quantum_ns - on.used_ns);
        on.work_from_ns = from_ns;
        let slice_ns = scaled(on.slice_ns, self.slowness);
        on.ends_ns = from_ns + slice_ns;
        slice_ns
    }
}
