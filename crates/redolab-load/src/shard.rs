//! One thread with its own event loop, and the sessions that live on it.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinSet, spawn_local};

use crate::part::Task;
use crate::pool::{Pool, pool};
use crate::report::{Notes, Report, SessionReport};
use crate::session::Session;
use crate::wire::Target;

/// What is said where a thread or a task has panicked.
pub(crate) const BROKEN: &str = "the client broke, which is a fault of Redolab's: please report it";

/// What a thread is told; each has where its answer goes.
pub(crate) enum Command {
    /// Have these sessions, by number: close others, open what is missing or lost.
    Resize(Vec<usize>, Sender<Result<Vec<(usize, u32)>, String>>),
    /// Open every further session with this password.
    Password(String),
    /// Execute a statement in every session; the answers by number.
    Ask(Arc<Question>, Sender<Vec<Answer>>),
    /// Work, together with the sessions of the other threads.
    Work(Arc<Task>, watch::Receiver<bool>, Sender<Report>),
}

/// A statement, and its arguments as text.
pub(crate) struct Question {
    pub(crate) statement: String,
    pub(crate) arguments: Vec<String>,
}

/// A session's number and what came of its statement.
pub(crate) type Answer = (usize, Result<Option<String>, String>);

/// Obey until the other end of `commands` is dropped. Whoever asked may have gone: then nobody wants
/// the answer.
pub(crate) async fn obey(mut target: Target, mut commands: mpsc::UnboundedReceiver<Command>) {
    let mut sessions: Vec<Session> = Vec::new();
    while let Some(command) = commands.recv().await {
        match command {
            Command::Resize(wanted, answer) => {
                let _ = answer.send(resize(&target, &mut sessions, &wanted).await);
            }
            Command::Password(password) => target.set_password(&password),
            Command::Ask(question, answer) => {
                let _ = answer.send(ask(&mut sessions, &question).await);
            }
            Command::Work(task, stop, answer) => {
                let _ = answer.send(work(&mut sessions, &task, &stop).await);
            }
        }
    }
}

async fn resize(
    target: &Target,
    sessions: &mut Vec<Session>,
    wanted: &[usize],
) -> Result<Vec<(usize, u32)>, String> {
    for session in std::mem::take(sessions) {
        if wanted.contains(&session.number) && session.is_alive().await {
            sessions.push(session);
        }
    }
    for &number in wanted {
        if sessions.iter().all(|session| session.number != number) {
            sessions.push(Session::open(target, number).await?);
        }
    }
    Ok(sessions.iter().map(|session| (session.number, session.pid)).collect())
}

async fn ask(sessions: &mut [Session], question: &Question) -> Vec<Answer> {
    let mut answers = Vec::with_capacity(sessions.len());
    for session in sessions {
        answers.push((session.number, session.ask(&question.statement, &question.arguments).await));
    }
    answers
}

async fn work(
    sessions: &mut Vec<Session>,
    task: &Arc<Task>,
    stop: &watch::Receiver<bool>,
) -> Report {
    let before = thread_cpu();
    let notes = Rc::new(RefCell::new(Notes::default()));
    let mut report = Report::default();
    let (desk, pool) = pool();
    let handing_out = spawn_local(hand_out(Arc::clone(task), pool));
    let mut working = JoinSet::new();
    for mut session in sessions.drain(..) {
        let (task, desk, notes) = (Arc::clone(task), desk.clone(), Rc::clone(&notes));
        let stop = stop.clone();
        working.spawn_local(async move {
            let done = session.work(&task, desk, &notes, stop).await;
            (session, done)
        });
    }
    let numbers: Vec<_> = sessions.iter().map(|session| session.number).collect();
    while let Some(done) = working.join_next().await {
        let Ok((session, (mine, interrupted))) = done else { continue };
        report.sessions.push(mine);
        report.interrupted |= interrupted;
        sessions.push(session);
    }
    for number in numbers {
        if report.sessions.iter().all(|session| session.number != number) {
            let trouble = Some(BROKEN.to_owned());
            report.sessions.push(SessionReport { number, trouble, ..SessionReport::default() });
        }
    }
    // It still waits for a moment where all sessions were stopped or lost.
    handing_out.abort();
    if let Ok(Err(why)) = handing_out.await {
        for session in &mut report.sessions {
            session.trouble.get_or_insert_with(|| format!("no timer: {why}"));
        }
    }
    let Notes { latency, responses } = notes.take();
    report.latency = latency;
    report.responses = task.schedule.as_ref().map(|_| responses);
    report.cpu = thread_cpu().saturating_sub(before);
    report
}

async fn hand_out(task: Arc<Task>, pool: Pool) -> io::Result<()> {
    match &task.schedule {
        Some(schedule) => pool.hand_out(schedule).await,
        None => Ok(()),
    }
}

/// CPU time of the calling thread.
fn thread_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}
