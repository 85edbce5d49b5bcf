//! Follows a server's processes as they come and go.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::process::Process;
use super::window::Watched;
use crate::kernel::children::children_by_scan;
use crate::kernel::procfs::{ATTEMPTS, read_stat, ticks_to_ns};
use crate::kernel::{clock, parse};
use crate::postgres::layout::{Layout, Target};

/// How often the accounts of all processes are read: what one uses after its last reading is not
/// known to be its own.
const BEAT: u64 = 500_000_000;

/// A server's processes, the postmaster first.
pub struct Server {
    /// Where they publish their events.
    pub layout: Layout,
    /// Those that are there.
    pub processes: Vec<Process>,
    /// Slots of processes whose place was found to be another's when they were followed last.
    pub lost_place: Vec<u32>,
    postmaster: u32,
    leave_out: Vec<u32>,
    /// Places and slots of those that ended when they were followed last.
    left: Vec<(u64, u32)>,
    ended: Vec<(u32, Watched)>,
    next_slot: u32,
    list: Option<File>,
    alive: Vec<u8>,
    began: u64,
    followed_at: u64,
    beat_at: u64,
    reaped_before: u64,
    reaped_known: u64,
}

impl Server {
    /// Begins to follow.
    ///
    /// # Errors
    ///
    /// As for [`Layout::of`].
    pub fn of(postmaster: u32, leave_out: Vec<u32>) -> io::Result<Self> {
        let layout = Layout::of(postmaster)?;
        let stat = read_stat(postmaster)?;
        let began = clock::now();
        let mut first = Process::meet(postmaster, stat.start_ticks, began, false)?;
        "postmaster".clone_into(&mut first.watched.kind);
        let mut server = Self {
            layout,
            processes: vec![first],
            lost_place: Vec::new(),
            left: Vec::new(),
            postmaster,
            leave_out,
            ended: Vec::new(),
            next_slot: 1,
            // The kernel may be built without these lists.
            list: File::open(format!("/proc/{postmaster}/task/{postmaster}/children")).ok(),
            alive: Vec::new(),
            began,
            followed_at: 0,
            beat_at: 0,
            reaped_before: ticks_to_ns(stat.reaped_ticks),
            reaped_known: 0,
        };
        server.follow()?;
        Ok(server)
    }

    /// Takes in processes that began, and parts from those that ended.
    ///
    /// # Errors
    ///
    /// When the server is gone.
    pub fn follow(&mut self) -> io::Result<()> {
        let at = clock::now();
        let beat = at >= self.beat_at + BEAT;
        self.lost_place.clear();
        self.left.clear();
        let suspect = self.processes.iter().any(|process| process.missed > 0);
        let changed = self.list_changed(beat).inspect_err(|_| self.part(&[]))?;
        if changed || suspect {
            let mut alive = parse::children(&self.alive);
            alive.sort_unstable();
            self.part(&alive);
            self.meet(&alive, at);
        }
        let strayed = self.find_places();
        if beat {
            self.beat_at = at;
            if strayed {
                self.renew_layout();
            }
            for process in &mut self.processes {
                process.read_accounts();
            }
        }
        self.followed_at = at;
        Ok(())
    }

    /// Finds out where the server's shared memory is now, and forgets places that are outside it.
    pub fn renew_layout(&mut self) {
        self.layout.renew();
        for process in &mut self.processes {
            process.place = process.place.filter(|&place| self.layout.holds(place));
        }
    }

    /// What was seen of every process in the window that closes now, in the order of their slots,
    /// and the CPU time of those that ended after their last reading.
    pub fn close_window(&mut self) -> (Vec<Watched>, i64) {
        let ended_cpu_ns = self.ended_cpu_ns();
        for process in &mut self.processes {
            process.read_accounts();
        }
        let mut seen = std::mem::take(&mut self.ended);
        for (slot, process) in (0..).zip(&mut self.processes) {
            seen.push((process.slot, process.close_window()));
            process.slot = slot;
            self.next_slot = slot + 1;
        }
        seen.sort_by_key(|(slot, _)| *slot);
        (seen.into_iter().map(|(_, watched)| watched).collect(), ended_cpu_ns)
    }

    /// Reads the list of children; whether it changed. The kernel warns that it may lack a process
    /// when another ends while it is written: such a process is met at the next reading.
    fn list_changed(&mut self, beat: bool) -> io::Result<bool> {
        let mut list = Vec::with_capacity(self.alive.len());
        if let Some(file) = &self.list {
            let mut part = [0; 4096];
            loop {
                let length = file.read_at(&mut part, list.len() as u64)?;
                list.extend_from_slice(&part[..length]);
                // What is left out at the end of a part is shorter than a pid.
                if length + 16 < part.len() {
                    break;
                }
            }
        } else if beat {
            let found = children_by_scan(self.postmaster)?;
            list = found.iter().flat_map(|pid| format!("{pid} ").into_bytes()).collect();
        } else {
            return Ok(false);
        }
        if list.is_empty() && !self.processes[0].is_alive() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let changed = list != self.alive;
        self.alive = list;
        Ok(changed)
    }

    fn part(&mut self, alive: &[u32]) {
        let mut at = 1;
        while at < self.processes.len() {
            let process = &self.processes[at];
            let listed = alive.binary_search(&process.watched.pid).is_ok();
            if (listed && process.missed == 0) || process.is_alive() {
                at += 1;
                continue;
            }
            let mut process = self.processes.swap_remove(at);
            self.left.extend(process.place.map(|place| (place, process.slot)));
            let watched = Watched { ended: true, ..process.close_window() };
            self.reaped_known += process.cpu_ns;
            self.ended.push((process.slot, watched));
        }
    }

    fn meet(&mut self, alive: &[u32], at: u64) {
        let mut known: Vec<u32> = self.processes.iter().map(|p| p.watched.pid).collect();
        known.sort_unstable();
        for &pid in alive {
            if known.binary_search(&pid).is_ok() || self.leave_out.contains(&pid) {
                continue;
            }
            let Ok(stat) = read_stat(pid) else { continue };
            if stat.parent != self.postmaster || matches!(stat.state, 'Z' | 'X') {
                continue;
            }
            let (began, whole) = self.beginning(stat.start_ticks, at);
            if let Ok(mut process) = Process::meet(pid, stat.start_ticks, began, whole) {
                process.slot = self.next_slot;
                self.processes.push(process);
                self.next_slot += 1;
            }
        }
    }

    /// When a process that is met at `at` began to count, and whether from its very start.
    ///
    /// The kernel tells the start in clock ticks, mostly of 10 ms; it was after the last time that
    /// the server's processes were listed, too. The middle of what is left is taken.
    fn beginning(&self, start_ticks: u64, at: u64) -> (u64, bool) {
        let since_boot = clock::since_boot().saturating_sub(clock::now());
        let earliest = ticks_to_ns(start_ticks).saturating_sub(since_boot);
        let latest = (earliest + ticks_to_ns(1)).min(at);
        if self.followed_at == 0 || latest < self.began {
            return (at, false);
        }
        let earliest = earliest.max(self.followed_at).min(latest);
        (earliest.midpoint(latest), true)
    }

    /// Looks for the place of each process that has none yet; whether one points elsewhere than to
    /// shared memory.
    fn find_places(&mut self) -> bool {
        let mut strayed = false;
        for at in 1..self.processes.len() {
            if self.processes[at].place.is_some() {
                continue;
            }
            let pid = self.processes[at].watched.pid;
            match self.layout.target(pid) {
                Target::Shared(place) if self.layout.is_of_server(pid) => {
                    // A place that is given anew is no longer its former holder's.
                    for process in self.processes.iter_mut().filter(|p| p.place == Some(place)) {
                        process.place = None;
                        self.lost_place.push(process.slot);
                    }
                    let left = self.left.iter().filter(|(its, _)| *its == place);
                    self.lost_place.extend(left.map(|(_, slot)| slot));
                    self.processes[at].place = Some(place);
                    self.processes[at].read_title();
                }
                Target::Unknown => strayed = true,
                Target::Shared(_) | Target::Own => {}
            }
        }
        strayed
    }

    /// Takes note that a tick's look at a process does not count.
    pub fn skip(&mut self, slot: u32) {
        let there = self.processes.iter_mut().filter(|p| p.slot == slot).map(|p| &mut p.watched);
        let ended =
            self.ended.iter_mut().filter(|(its, _)| *its == slot).map(|(_, watched)| watched);
        for watched in there.chain(ended) {
            watched.skipped += 1;
        }
    }

    fn ended_cpu_ns(&mut self) -> i64 {
        let reaped = |server: &Self| {
            read_stat(server.postmaster).map(|stat| ticks_to_ns(stat.reaped_ticks)).ok()
        };
        let mut before = reaped(self);
        for _ in 0..ATTEMPTS {
            let _ = self.follow();
            let after = reaped(self);
            if after == before {
                break;
            }
            before = after;
        }
        let known = std::mem::take(&mut self.reaped_known);
        // Without its postmaster nobody knows what they used.
        let Some(reaped) = before else { return 0 };
        let grown = reaped.saturating_sub(std::mem::replace(&mut self.reaped_before, reaped));
        i64::try_from(i128::from(grown) - i128::from(known)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_the_symbol_is_not_followed() {
        let error = Server::of(std::process::id(), Vec::new()).err().expect("refused");
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    }
}
