//! The sampler as its user has it: started, paused, read and stopped, while a thread of its own works.

use std::io;
use std::sync::mpsc::{Sender, channel};

use super::config::Config;
use super::window::Window;
use super::work::{Command, Work};

/// A sampler at work in a thread of its own. It ends when this is dropped.
pub struct Sampler {
    commands: Sender<Command>,
}

impl Sampler {
    /// Starts to sample.
    ///
    /// # Errors
    ///
    /// `PermissionDenied` when the server's memory may not be read, `Unsupported` when the program
    /// is none this can read, `NotFound` when there is no such process.
    pub fn start(config: Config) -> io::Result<Self> {
        let mut work = Work::new(config)?;
        let (commands, received) = channel();
        std::thread::Builder::new()
            .name("wait-sampler".into())
            .spawn(move || work.run(&received))?;
        Ok(Self { commands })
    }

    /// No ticks and no readings until [`Sampler::resume`].
    ///
    /// # Errors
    ///
    /// When the sampler's thread broke, which is a defect in it; so for the others.
    pub fn pause(&self) -> io::Result<()> {
        self.commands.send(Command::Pause).map_err(broken)
    }

    /// Goes on after [`Sampler::pause`].
    ///
    /// # Errors
    ///
    /// See [`Sampler::pause`].
    pub fn resume(&self) -> io::Result<()> {
        self.commands.send(Command::Resume).map_err(broken)
    }

    /// Everything seen since the start or the last reading; the sampler goes on.
    ///
    /// # Errors
    ///
    /// See [`Sampler::pause`].
    pub fn read(&self) -> io::Result<Window> {
        self.ask(Command::Read)
    }

    /// The same, and ends the sampling.
    ///
    /// # Errors
    ///
    /// See [`Sampler::pause`].
    pub fn stop(self) -> io::Result<Window> {
        self.ask(Command::Stop)
    }

    fn ask(&self, command: fn(Sender<Window>) -> Command) -> io::Result<Window> {
        let (reply, window) = channel();
        self.commands.send(command(reply)).map_err(broken)?;
        window.recv().map_err(broken)
    }
}

fn broken(_: impl std::error::Error) -> io::Error {
    io::Error::other("the wait sampler's thread broke")
}
