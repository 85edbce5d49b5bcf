//! All sessions of one server, dealt out over a few threads.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle, available_parallelism};
use std::time::{Duration, Instant};

use tokio::runtime::Builder;
use tokio::sync::{mpsc, watch};
use tokio::task::LocalSet;

use crate::part::{Job, Task};
use crate::report::{Report, SessionReport};
use crate::shard::{BROKEN, Command, Question, obey};
use crate::wire::Target;

/// More threads than this do not help one client.
const MOST_THREADS: usize = 8;

/// Sessions of one server; none at first. Closed when this is dropped.
pub struct Sessions {
    shards: Vec<Shard>,
    pids: Vec<u32>,
    stop: watch::Sender<bool>,
    working: Option<Working>,
}

struct Shard {
    commands: mpsc::UnboundedSender<Command>,
    thread: JoinHandle<()>,
}

struct Working {
    task: Arc<Task>,
    reports: Receiver<Report>,
    missing: usize,
    so_far: Report,
}

impl Sessions {
    /// Start the threads; nothing is connected yet.
    ///
    /// # Errors
    ///
    /// A thread or its event loop cannot be made.
    pub fn start(target: &Target) -> io::Result<Self> {
        let threads = available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        let shards = (0..threads)
            .map(|number| Shard::start(number, target.clone()))
            .collect::<io::Result<_>>()?;
        Ok(Self { shards, pids: Vec::new(), stop: watch::Sender::new(false), working: None })
    }

    /// Open every further session, and lost ones anew, with this password.
    pub fn set_password(&self, password: &str) {
        for shard in &self.shards {
            // A thread that has ended opens nothing, and says so when it is asked.
            let _ = shard.commands.send(Command::Password(password.to_owned()));
        }
    }

    /// Have `count` sessions: close the last ones, open more, and open lost ones anew.
    ///
    /// # Errors
    ///
    /// Why one could not be opened, in the server's words.
    pub fn resize(&mut self, count: usize) -> Result<(), String> {
        let threads = self.shards.len();
        let wanted = |shard| (0..count).filter(|number| number % threads == shard).collect();
        let answers = self.tell(|shard, answer| Command::Resize(wanted(shard), answer))?;
        let mut known = Vec::with_capacity(count);
        for answer in answers {
            known.extend(answer?);
        }
        known.sort_unstable();
        self.pids = known.into_iter().map(|(_, pid)| pid).collect();
        Ok(())
    }

    /// The server processes that serve the sessions, in the order of the sessions.
    #[must_use]
    pub fn pids(&self) -> &[u32] {
        &self.pids
    }

    /// Execute a statement in every session, its arguments as text; returns, in their order, the text in
    /// the first column of each one's row, and None where there was no row.
    ///
    /// # Errors
    ///
    /// What went wrong in the first session where something did.
    pub fn ask(
        &self,
        statement: &str,
        arguments: &[String],
    ) -> Result<Vec<Option<String>>, String> {
        let question =
            Arc::new(Question { statement: statement.to_owned(), arguments: arguments.to_vec() });
        let answers = self.tell(|_, answer| Command::Ask(Arc::clone(&question), answer))?;
        let mut known: Vec<_> = answers.into_iter().flatten().collect();
        known.sort_by_key(|(number, _)| *number);
        known
            .into_iter()
            .map(|(number, told)| told.map_err(|why| format!("session {}: {why}", number + 1)))
            .collect()
    }

    /// Let every session do its part of `job`; `wait` tells when all have.
    pub fn begin(&mut self, job: Job) {
        self.stop.send_replace(false);
        let (answer, reports) = channel();
        let task = Arc::new(Task::new(job, self.pids.len()));
        for shard in &self.shards {
            let work = Command::Work(Arc::clone(&task), self.stop.subscribe(), answer.clone());
            let _ = shard.commands.send(work);
        }
        self.working =
            Some(Working { task, reports, missing: self.shards.len(), so_far: Report::default() });
    }

    /// Wait for the work to be done, at most for `limit`; None while it is not, or none was begun.
    pub fn wait(&mut self, limit: Duration) -> Option<Report> {
        let until = Instant::now() + limit;
        let working = self.working.as_mut()?;
        while working.missing > 0 {
            match working.reports.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(report) => {
                    working.so_far.merge(report);
                    working.missing -= 1;
                }
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let Working { task, missing, so_far: mut report, .. } = self.working.take()?;
        if missing > 0 {
            let (number, trouble) = (report.sessions.len(), Some(BROKEN.to_owned()));
            report.sessions.push(SessionReport { number, trouble, ..SessionReport::default() });
        }
        if let (Some(responses), Some(schedule)) = (&mut report.responses, &task.schedule) {
            responses.unserved = schedule.left();
        }
        Some(report)
    }

    /// Stop the work at once. A session that is stopped is lost; `resize` opens it anew.
    pub fn interrupt(&self) {
        self.stop.send_replace(true);
    }

    /// The answers of all threads.
    fn tell<T>(&self, command: impl Fn(usize, Sender<T>) -> Command) -> Result<Vec<T>, String> {
        let (answer, answers) = channel();
        for (number, shard) in self.shards.iter().enumerate() {
            let _ = shard.commands.send(command(number, answer.clone()));
        }
        drop(answer);
        let answers: Vec<T> = answers.into_iter().collect();
        if answers.len() == self.shards.len() { Ok(answers) } else { Err(BROKEN.to_owned()) }
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        self.interrupt();
        for Shard { commands, thread } in self.shards.drain(..) {
            drop(commands);
            let _ = thread.join();
        }
    }
}

impl Shard {
    fn start(number: usize, target: Target) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (commands, orders) = mpsc::unbounded_channel();
        let thread = thread::Builder::new()
            .name(format!("load {}", number + 1))
            .spawn(move || LocalSet::new().block_on(&runtime, obey(target, orders)))?;
        Ok(Self { commands, thread })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads of which the second ends at once, as one that panics does.
    fn half_broken() -> Sessions {
        let shards = [true, false].map(|answers| {
            let (commands, mut orders) = mpsc::unbounded_channel();
            let thread = thread::spawn(move || {
                while let Some(command) = orders.blocking_recv().filter(|_| answers) {
                    match command {
                        Command::Resize(_, answer) => drop(answer.send(Ok(Vec::new()))),
                        Command::Ask(_, answer) => drop(answer.send(Vec::new())),
                        Command::Password(_) => {}
                        Command::Work(_, _, answer) => drop(answer.send(Report::default())),
                    }
                }
            });
            Shard { commands, thread }
        });
        let (pids, stop) = (Vec::new(), watch::Sender::new(false));
        Sessions { shards: shards.into(), pids, stop, working: None }
    }

    #[test]
    fn a_thread_that_broke_is_an_error_and_no_smaller_answer() {
        let mut sessions = half_broken();
        assert_eq!(sessions.resize(2), Err(BROKEN.to_owned()));
        assert_eq!(sessions.ask("select 1", &[]), Err(BROKEN.to_owned()));
        sessions.begin(Job::of("", 1));
        let report = sessions.wait(Duration::from_secs(60)).unwrap();
        assert_eq!(report.sessions[0].trouble.as_deref(), Some(BROKEN));
    }
}
