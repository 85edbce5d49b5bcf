//! Prepared statements, closed on the server when nobody has them any more.

use std::cell::RefCell;
use std::rc::Rc;

use mysql_common::packets::ComStmtClose;

use super::channel::Channel;

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

    /// Close them, which the server does not answer.
    pub(super) async fn close(&self, channel: &mut Channel) -> Result<(), String> {
        let orphans = self.0.take();
        for number in orphans {
            channel.tell(&ComStmtClose::new(number)).await?;
        }
        Ok(())
    }
}
