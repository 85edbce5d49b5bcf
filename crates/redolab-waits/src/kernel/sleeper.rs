//! A child process that sleeps, for tests.

use std::process::{Child, Command};

/// A child of this process that lives as long as its test.
pub struct Sleeper(Child);

impl Sleeper {
    /// Starts one.
    pub fn start() -> Self {
        Self(Command::new("sleep").arg("60").spawn().expect("sleep can be started"))
    }

    /// Its pid.
    pub fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.0.kill().expect("the child can be ended");
        self.0.wait().expect("the child can be collected");
    }
}
