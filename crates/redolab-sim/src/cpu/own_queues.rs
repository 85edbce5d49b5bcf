//! CPUs with a queue each: who waits where, and in which order.

use super::fair::Fair;
use super::load::Load;
use super::placement::Placement;
use super::request::By;
use super::server::Server;

/// Who waits where, and in which order.
#[derive(Debug)]
pub struct OwnQueues {
    pub placement: Placement,
    pub fair: Fair,
    pub load: Load,
}

impl OwnQueues {
    /// Where one goes who asks for a CPU.
    pub fn place_of(&mut self, process: u32, by: By, servers: &[Server], now_ns: u64) -> u32 {
        let last = self.placement.last[process as usize];
        let place = if self.fair.stays(process) {
            // For the scheduler it never left.
            last
        } else if let Some(here) = self.waker_with_less(process, by, servers, now_ns) {
            here
        } else {
            self.placement.of(process, by, servers, now_ns)
        };
        self.load.comes(process, last, place, now_ns);
        self.placement.last[process as usize] = place;
        place
    }

    /// The waker's CPU, if it has less to do than that of the woken, which is busy.
    fn waker_with_less(
        &mut self,
        process: u32,
        by: By,
        servers: &[Server],
        now_ns: u64,
    ) -> Option<u32> {
        let By::Session { waker } = by else { return None };
        let [last, here] = [process, waker].map(|one| self.placement.last[one as usize]);
        let away = here != last && servers[last as usize].busy;
        (away && self.load.is_less(process, here, last, now_ns)).then_some(here)
    }
}
