//! Prepared statements, closed on the server when nobody has them any more.

use std::cell::RefCell;
use std::rc::Rc;

/// A statement that the server knows.
pub(super) struct Statement {
    pub(super) number: u32,
    /// How many.
    pub(super) arguments: usize,
    orphans: Orphans,
}

impl Drop for Statement {
    fn drop(&mut self) {
        self.orphans.0.borrow_mut().push(self.number);
    }
}

/// Statements of a connection that nobody has any more.
#[derive(Clone, Default)]
pub(super) struct Orphans(Rc<RefCell<Vec<u32>>>);

impl Orphans {
    pub(super) fn adopt(&self, (number, arguments): (u32, usize)) -> Statement {
        Statement { number, arguments, orphans: self.clone() }
    }

    /// The numbers of those that are to be closed.
    pub(super) fn take(&self) -> Vec<u32> {
        self.0.take()
    }
}
