//! Wakes a task at a moment, to the nanosecond.
//!
//! The event loop's own timer counts in milliseconds, longer than many a commit takes; a timer of the kernel counts
//! in nanoseconds.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// The time on the clock that alarms go by; it never goes back.
pub(crate) fn now() -> Duration {
    let time = clock_gettime(ClockId::Monotonic);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// A timer of the kernel.
pub(crate) struct Alarm(AsyncFd<OwnedFd>);

impl Alarm {
    /// Make one, on the event loop that this is called in.
    #[expect(
        deprecated,
        reason = "what follows it is unsafe, for types that may close their descriptor; this one owns it"
    )]
    pub(crate) fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        Ok(Self(AsyncFd::with_interest(timer, Interest::READABLE)?))
    }

    /// Wait until `moment`; a moment that is past is not waited for.
    pub(crate) async fn wait_until(&self, moment: Duration) -> io::Result<()> {
        let once = Itimerspec {
            it_interval: Timespec::default(),
            it_value: Timespec::try_from(moment).map_err(io::Error::other)?,
        };
        while now() < moment {
            // Setting it also takes back that it went off, so that nothing need be read from it.
            timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::ABSTIME, &once)?;
            self.0.readable().await?.clear_ready();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::runtime::Builder;

    #[test]
    fn nobody_is_woken_before_the_moment_and_a_past_one_is_not_waited_for() {
        let runtime = Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let alarm = Alarm::new().unwrap();
            for ahead_us in [300, 1, 2_500, 0, 40] {
                let moment = now() + Duration::from_micros(ahead_us);
                alarm.wait_until(moment).await.unwrap();
                assert!(now() >= moment, "{ahead_us}");
            }
            alarm.wait_until(now().checked_sub(Duration::from_secs(1)).unwrap()).await.unwrap();
        });
    }

    #[test]
    fn alarms_on_one_loop_go_off_in_the_order_of_their_moments() {
        let runtime = Builder::new_current_thread().enable_io().build().unwrap();
        let order = std::cell::RefCell::new(Vec::new());
        runtime.block_on(async {
            let start = now();
            let one = async |after: u64| {
                let alarm = Alarm::new().unwrap();
                alarm.wait_until(start + Duration::from_millis(after)).await.unwrap();
                order.borrow_mut().push(after);
            };
            tokio::join!(one(30), one(10), one(20));
        });
        assert_eq!(*order.borrow(), [10, 20, 30]);
    }
}
