//! Hands what is asked for to the free session of a thread that was used last, as connection pools do.
//!
//! Its server process still has in its caches what a commit needs. Used in turn, each of a large pool would come to
//! every commit cold.

use std::io;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use crate::alarm::Alarm;
use crate::arrivals::Schedule;

/// A transaction that was asked for.
pub(crate) struct Asked {
    /// When, on the clock that alarms go by.
    pub(crate) at: Duration,
    /// Whether no session was free then.
    pub(crate) waited: bool,
}

/// Where the sessions of a thread say that they are free.
#[derive(Clone)]
pub(crate) struct Desk(UnboundedSender<Free>);

/// A session that is free.
type Free = oneshot::Sender<Asked>;

/// The free sessions of a thread.
pub(crate) struct Pool {
    said: UnboundedReceiver<Free>,
    /// In the order in which they became free.
    idle: Vec<Free>,
}

/// A desk, and the pool of those who say there that they are free.
pub(crate) fn pool() -> (Desk, Pool) {
    let (desk, said) = unbounded_channel();
    (Desk(desk), Pool { said, idle: Vec::new() })
}

impl Desk {
    /// Wait for work, free `since` then; None when none will come any more.
    pub(crate) async fn next(&self, schedule: &Schedule, since: Duration) -> Option<Asked> {
        let (free, asked) = oneshot::channel();
        schedule.vacancies.add(since);
        self.0.send(free).ok()?;
        asked.await.ok()
    }
}

impl Pool {
    /// Hand the moments of `schedule` to free sessions until it ends or no session is left. While none is free
    /// no moment is taken: another thread may have one for it.
    ///
    /// # Errors
    ///
    /// The timer cannot be made or set.
    pub(crate) async fn hand_out(mut self, schedule: &Schedule) -> io::Result<()> {
        let alarm = Alarm::new()?;
        while self.has_idle().await && !schedule.is_over() {
            let Some(moment) = schedule.take() else {
                // Nothing comes any more, or not yet: that time belongs to the interval, too.
                if let Some(limit) = schedule.limit() {
                    alarm.wait_until(limit).await?;
                }
                break;
            };
            let at = schedule.start() + moment;
            alarm.wait_until(at).await?;
            if let Some(session) = self.latest() {
                let waited = !schedule.vacancies.take(at);
                // A session that was stopped meanwhile does not want it, nor does any other.
                let _ = session.send(Asked { at, waited });
            }
        }
        Ok(())
    }

    /// Wait until somebody is free; false when nobody can be any more.
    async fn has_idle(&mut self) -> bool {
        if self.idle.is_empty() {
            self.idle.extend(self.said.recv().await);
        }
        !self.idle.is_empty()
    }

    /// Who became free last.
    fn latest(&mut self) -> Option<Free> {
        while let Ok(free) = self.said.try_recv() {
            self.idle.push(free);
        }
        self.idle.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alarm::now;
    use crate::amount::Amount;
    use crate::arrivals::Arrivals;
    use std::collections::{BTreeMap, BTreeSet};
    use std::rc::Rc;
    use tokio::runtime::Builder;
    use tokio::task::{JoinSet, LocalSet};

    /// Sessions of one thread that do nothing but take time.
    #[derive(Clone, Copy)]
    struct Idlers {
        sessions: usize,
        each_us: u64,
        /// The first session is lost when it has done so many.
        lost_after: usize,
    }

    impl Idlers {
        /// What each did, and how much nobody did.
        fn work(self, rate_per_s: f64, amount: Amount) -> (Vec<usize>, u64) {
            let schedule = Schedule::new(Arrivals { rate_per_s, seed: 5 }, amount, 1, 1);
            let schedule = Rc::new(schedule);
            let mut done = on_a_loop(async {
                let (desk, pool) = pool();
                let mut working = JoinSet::new();
                for number in 0..self.sessions {
                    let (desk, schedule) = (desk.clone(), Rc::clone(&schedule));
                    let most = if number == 0 { self.lost_after } else { usize::MAX };
                    working.spawn_local(async move {
                        (number, one(&desk, &schedule, self.each_us, most).await)
                    });
                }
                drop(desk);
                pool.hand_out(&schedule).await.unwrap();
                working.join_all().await
            });
            done.sort_unstable();
            (done.into_iter().map(|(_, count)| count).collect(), schedule.left())
        }
    }

    async fn one(desk: &Desk, schedule: &Schedule, each_us: u64, most: usize) -> usize {
        let alarm = Alarm::new().unwrap();
        let (mut free, mut count) = (schedule.start(), 0);
        while count < most && desk.next(schedule, free).await.is_some() {
            alarm.wait_until(now() + Duration::from_micros(each_us)).await.unwrap();
            (free, count) = (now(), count + 1);
        }
        count
    }

    fn on_a_loop<T>(work: impl Future<Output = T>) -> T {
        let runtime = Builder::new_current_thread().enable_io().build().unwrap();
        LocalSet::new().block_on(&runtime, work)
    }

    impl Desk {
        fn become_free(&self) -> oneshot::Receiver<Asked> {
            let (free, asked) = oneshot::channel();
            self.0.send(free).unwrap();
            asked
        }
    }

    #[test]
    fn who_became_free_last_is_handed_the_next() {
        let (desk, mut pool) = pool();
        let mut hand = |number: u64| {
            let at = Duration::from_secs(number);
            pool.latest().unwrap().send(Asked { at, waited: false }).ok().unwrap();
        };
        let (mut first, mut second) = (desk.become_free(), desk.become_free());
        hand(1);
        let mut third = desk.become_free();
        hand(2);
        hand(3);
        let order = [&mut second, &mut third, &mut first].map(|asked| asked.try_recv().unwrap().at);
        assert_eq!(order, [1, 2, 3].map(Duration::from_secs));
    }

    #[test]
    fn moments_in_order_go_to_who_became_free_last_of_those_left() {
        let (desk, pool) = pool();
        let mut asked: Vec<_> = (0..3).map(|_| desk.become_free()).collect();
        drop(desk);
        let schedule = Schedule::new(Arrivals { rate_per_s: 1e6, seed: 5 }, Amount::Rows(3), 1, 1);
        on_a_loop(pool.hand_out(&schedule)).unwrap();
        let at: Vec<_> = asked.iter_mut().rev().map(|one| one.try_recv().unwrap().at).collect();
        assert!(at.is_sorted() && schedule.left() == 0, "{at:?}");
    }

    /// What each of the sessions would do, were every moment and every work as long as it is meant to be: who is
    /// free is computed, and no clock is read.
    fn simulated(sessions: usize, each: Duration, schedule: &Schedule) -> Vec<usize> {
        let (desk, mut pool) = pool();
        let mut done = vec![0; sessions];
        let mut working: BTreeSet<_> = (0..sessions).map(|one| (Duration::ZERO, one)).collect();
        let mut idle = BTreeMap::new();
        while let Some(moment) = schedule.take() {
            let mut begins = moment;
            // Where nobody is free, the moment waits for the first who will be.
            while working.first().is_some_and(|&(until, _)| until <= begins || idle.is_empty()) {
                let (until, one) = working.pop_first().unwrap();
                begins = begins.max(until);
                idle.insert(one, desk.become_free());
            }
            let asked = Asked { at: moment, waited: begins > moment };
            pool.latest().unwrap().send(asked).ok().unwrap();
            let handed =
                idle.iter_mut().find_map(|(&one, it)| it.try_recv().is_ok().then_some(one));
            let one = handed.unwrap();
            idle.remove(&one);
            working.insert((begins + each, one));
            done[one] += 1;
        }
        done
    }

    #[test]
    fn few_do_nearly_all_where_little_comes_and_all_do_where_much_does() {
        let schedule = |rate_per_s, rows| {
            Schedule::new(Arrivals { rate_per_s, seed: 5 }, Amount::Rows(rows), 1, 1)
        };
        let mut little = simulated(16, Duration::from_micros(100), &schedule(500.0, 300));
        little.sort_unstable_by_key(|&count| std::cmp::Reverse(count));
        assert_eq!(little.iter().sum::<usize>(), 300);
        assert!(little[..4].iter().sum::<usize>() > 270, "{little:?}");
        let much = simulated(16, Duration::from_millis(2), &schedule(1e6, 1_600));
        assert_eq!(much.iter().sum::<usize>(), 1_600);
        assert!(much.iter().all(|&count| count > 50), "{much:?}");
    }

    #[test]
    fn all_that_comes_is_done_where_little_comes_and_where_much_does() {
        let idlers = Idlers { sessions: 16, each_us: 100, lost_after: usize::MAX };
        let (little, left) = idlers.work(500.0, Amount::Rows(300));
        assert_eq!((little.iter().sum(), left), (300, 0));
        let idlers = Idlers { each_us: 2_000, ..idlers };
        let (much, left) = idlers.work(1e6, Amount::Rows(1_600));
        assert_eq!((much.iter().sum(), left), (1_600, 0));
    }

    #[test]
    fn the_others_do_what_a_lost_session_would_have() {
        let idlers = Idlers { sessions: 3, each_us: 200, lost_after: 2 };
        let (done, left) = idlers.work(20_000.0, Amount::Rows(100));
        assert_eq!((done[0], done.iter().sum(), left), (2, 100, 0));
    }

    #[test]
    fn handing_out_ends_with_the_last_session_and_at_the_end_of_the_time() {
        let idlers = Idlers { sessions: 1, each_us: 0, lost_after: 2 };
        let (done, left) = idlers.work(1_000.0, Amount::Rows(50));
        assert_eq!((done, left), (vec![2], 48));
        // More than one session can do: the end is for all, whatever is left.
        let idlers = Idlers { sessions: 2, each_us: 1_000, lost_after: usize::MAX };
        let (done, left) = idlers.work(100_000.0, Amount::For(Duration::from_millis(50)));
        assert!(done.iter().all(|&count| count > 0) && left > 4_000, "{done:?}, {left}");
    }
}
