//! The devices: a flush of a log, in one wait or two, one after the other on each device.

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
    /// CPU time of a log's flush between its two waits for the device.
    pub(super) fn between_waits_ns(&self, log: u32) -> u64 {
        match self.parameters.device_write_s.ns() {
            0 => 0,
            _ => self.logs[log as usize].rules.flush_cpu_ns / BETWEEN_WAITS,
        }
    }

    /// A process gives its flush to the device, which may have another to do first.
    pub(super) fn start_device(&mut self, process: u32) -> Option<u64> {
        self.set_state(process, State::Device);
        let log = self.processes[process as usize].log;
        let device = &mut self.devices[self.logs[log as usize].rules.device as usize];
        if device.serves.is_some() {
            device.next = Some(log);
        } else {
            device.serves = Some(log);
            self.begin_on_device(log, 0);
        }
        None
    }

    /// The device begins to write, and then to flush; for one that had to wait it did so `late_ns` ago.
    fn begin_on_device(&mut self, log: u32, late_ns: u64) {
        let own = &self.logs[log as usize];
        let bytes = own.target - own.flushed;
        let place = own.rules.device as usize;
        let idle_ns = self.now_ns - self.devices[place].idle_since_ns;
        let whole_ns = self.draws.devices[log as usize].draw()
            + scaled(bytes, own.rules.device_ns_per_byte)
            + more_ns(&self.parameters.device_after_idle_s, idle_ns);
        let device_ns = whole_ns.saturating_sub(late_ns);
        let first_ns = match self.parameters.device_write_s.ns() {
            0 => device_ns,
            write_ns => write_ns.min(device_ns / 2),
        };
        let done_ns = self.now_ns + device_ns + self.between_waits_ns(log);
        let device = &mut self.devices[place];
        device.left_ns = device_ns - first_ns;
        device.done_ns = done_ns;
        self.wait_for_device(log, first_ns);
    }

    /// Between its two waits a flush has had its CPU time.
    pub(super) fn wait_on(&mut self, process: u32) -> Option<u64> {
        self.set_state(process, State::Device);
        let log = self.processes[process as usize].log;
        let device = &mut self.devices[self.logs[log as usize].rules.device as usize];
        let left_ns = std::mem::take(&mut device.left_ns);
        let until_done_ns = device.done_ns.saturating_sub(self.now_ns);
        let paced = self.parameters.device_paced;
        self.wait_for_device(log, if paced { until_done_ns } else { left_ns });
        None
    }

    fn wait_for_device(&mut self, log: u32, ns: u64) {
        self.tally.device_busy.enter(self.now_ns);
        let place = self.logs[log as usize].rules.device;
        let device = &mut self.devices[place as usize];
        // The device's time was measured where the CPU that it tells idled, whose waking up is the end of it.
        device.told_after_ns = self.cpu.told_after_ns().min(ns);
        device.interrupt_ns = self.parameters.interrupt_s.ns().min(scaled(ns, MOST_INTERRUPT));
        let told_ns = self.now_ns + ns - device.told_after_ns;
        self.events.at(told_ns, Event::DeviceDone { device: place });
    }

    pub(super) fn device_is_done(&mut self, place: u32) {
        let device = &mut self.devices[place as usize];
        let told_after_ns = std::mem::take(&mut device.told_after_ns);
        if told_after_ns > 0 && self.cpu.told_idles() {
            self.events.at(self.now_ns + told_after_ns, Event::DeviceDone { device: place });
            return;
        }
        self.tally.device_busy.leave(self.now_ns);
        let Some(log) = device.serves else { return };
        let (left_ns, interrupt_ns) = (device.left_ns, device.interrupt_ns);
        if let Some(owner) = self.logs[log as usize].owner {
            self.is_cold(owner);
            self.interrupt(owner, interrupt_ns);
        }
        if left_ns > 0 {
            self.wake_owner(log, Phase::Flushing, self.between_waits_ns(log), By::Device);
            return;
        }
        self.tally.flushes[log as usize] += 1;
        let device = &mut self.devices[place as usize];
        device.idle_since_ns = self.now_ns;
        device.serves = device.next.take();
        if let Some(next) = device.serves {
            let late_ns = self.parameters.second.as_ref().map_or(0, |second| second.late_s.ns());
            self.begin_on_device(next, late_ns);
        }
        self.wake_owner(log, Phase::Flushed, self.parameters.wake_s.ns(), By::Device);
    }

    /// Who runs where the device tells that it is done for a process has more to do.
    fn interrupt(&mut self, process: u32, ns: u64) {
        if let Some((server, slice_ns)) = self.cpu.interrupt(process, ns, self.now_ns) {
            self.events.at(self.now_ns + slice_ns, Event::Slice { server });
        }
    }
}
