//! Handlers of signals, which Python runs only when it has a turn.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// How often Python hears of signals while something is simulated.
const HEARING: Duration = Duration::from_millis(100);

/// What came of the handlers of signals.
pub struct Signals {
    heard: Instant,
    raised: Option<PyErr>,
}

impl Signals {
    /// Nothing has come yet.
    pub fn new() -> Self {
        Self { heard: Instant::now(), raised: None }
    }

    /// Let the handlers run now and then; false once one of them has raised something.
    pub fn are_quiet(&mut self) -> bool {
        if self.heard.elapsed() >= HEARING {
            self.raised = Python::attach(|py| -> PyResult<()> { py.check_signals() }).err();
            self.heard = Instant::now();
        }
        self.raised.is_none()
    }

    /// What a handler has raised.
    pub fn raised(self) -> Option<PyErr> {
        self.raised
    }
}
