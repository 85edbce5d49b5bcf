//! Questions to a PostgreSQL server, and what comes back: how many rows, and the text of values.
//!
//! Values go both ways as text. The server knows what types its statements want, and turns a text into them.

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::IsNull;
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend::{self, BindError};

use super::channel::{Channel, tag};
use super::words::{Refused, STRANGE};
use crate::wire::statement::Statement;

/// What came of a statement, or of several in one text.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Rows changed or returned, of all statements.
    pub(super) rows: u64,
    /// In the first column of the first row, where there is one.
    pub(super) first: Option<String>,
}

/// An argument as text; None for NULL.
pub(super) type Text<'a> = Option<&'a str>;

impl Channel {
    /// Whether the server still answers.
    pub(super) async fn ping(&mut self) -> Result<(), Refused> {
        self.query("").await.map(drop)
    }

    /// Prepare a statement under a number, and close those of other numbers; returns how many arguments it has.
    pub(super) async fn prepare(
        &mut self,
        number: u32,
        statement: &str,
        closed: &[u32],
    ) -> Result<usize, Refused> {
        let name = name(number);
        let written = self.begin()?;
        for number in closed {
            frontend::close(b'S', &self::name(*number), written).map_err(|why| why.to_string())?;
        }
        frontend::parse(&name, statement, [], written).map_err(|why| why.to_string())?;
        frontend::describe(b'S', &name, written).map_err(|why| why.to_string())?;
        frontend::sync(written);
        self.send(1).await?;
        let mut arguments = 0;
        loop {
            match self.receive().await? {
                tag::PARAMETERS => {
                    let count = self.body().get(..2).ok_or(STRANGE)?;
                    arguments = usize::from(count[0]) << 8 | usize::from(count[1]);
                }
                tag::READY => return Ok(arguments),
                tag::ERROR => return self.fail().await,
                _ => {}
            }
        }
    }

    /// Execute a text, of several statements perhaps.
    pub(super) async fn query(&mut self, text: &str) -> Result<Told, Refused> {
        frontend::query(text, self.begin()?).map_err(|why| why.to_string())?;
        self.send(1).await?;
        self.answer().await
    }

    /// Execute a prepared statement.
    pub(super) async fn execute(
        &mut self,
        statement: &Statement,
        arguments: &[Text<'_>],
    ) -> Result<Told, Refused> {
        if arguments.len() != statement.arguments {
            return Err(Refused::from(format!(
                "the statement has {} placeholders and gets {} arguments",
                statement.arguments,
                arguments.len()
            )));
        }
        let written = self.begin()?;
        bind(&name(statement.number), arguments, written)?;
        frontend::sync(written);
        self.send(1).await?;
        self.answer().await
    }

    /// Execute a statement with arguments once.
    pub(super) async fn ask(
        &mut self,
        statement: &str,
        arguments: &[Text<'_>],
    ) -> Result<Told, Refused> {
        let written = self.begin()?;
        frontend::parse("", statement, [], written).map_err(|why| why.to_string())?;
        bind("", arguments, written)?;
        frontend::sync(written);
        self.send(1).await?;
        self.answer().await
    }

    /// Read an answer to where the server is ready again.
    async fn answer(&mut self) -> Result<Told, Refused> {
        let mut told = Told::default();
        let mut has_row = false;
        loop {
            match self.receive().await? {
                tag::READY => return Ok(told),
                tag::COMPLETE => told.rows += rows(self.body()),
                tag::DATA_ROW if !has_row => {
                    has_row = true;
                    told.first = first(&self.message()?);
                }
                tag::ERROR => return self.fail().await,
                tag::COPY_IN | tag::COPY_OUT | tag::COPY_BOTH => {
                    return Err("COPY is not for a load from a client".into());
                }
                _ => {}
            }
        }
    }

    /// The error that was received, after the rest of the answer.
    async fn fail<T>(&mut self) -> Result<T, Refused> {
        let refused = self.refused();
        if !refused.is_fatal {
            self.settle().await?;
        }
        Err(refused)
    }
}

fn name(number: u32) -> String {
    format!("s{number}")
}

/// Bind arguments to a statement, and execute it.
fn bind(statement: &str, arguments: &[Text<'_>], written: &mut BytesMut) -> Result<(), Refused> {
    let write = |text: &Text<'_>, to: &mut BytesMut| match text {
        Some(text) => {
            to.extend_from_slice(text.as_bytes());
            Ok(IsNull::No)
        }
        None => Ok(IsNull::Yes),
    };
    frontend::bind("", statement, [], arguments, write, [], written).map_err(|why| match why {
        BindError::Conversion(why) => why.to_string(),
        BindError::Serialization(why) => why.to_string(),
    })?;
    frontend::execute("", 0, written).map_err(|why| why.to_string().into())
}

/// The last word of what is said when a statement is complete, where it is a number: `UPDATE 1`, `INSERT 0 5`.
fn rows(complete: &[u8]) -> u64 {
    let words = complete.strip_suffix(&[0]).unwrap_or(complete);
    let number = words.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    std::str::from_utf8(number).ok().and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn first(row: &Message) -> Option<String> {
    let Message::DataRow(row) = row else { return None };
    let range = row.ranges().next().ok()???;
    Some(String::from_utf8_lossy(row.buffer().get(range)?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_a_statement_are_its_last_word() {
        for (said, count) in
            [("UPDATE 3\0", 3), ("INSERT 0 12\0", 12), ("SELECT 0\0", 0), ("COMMIT\0", 0), ("", 0)]
        {
            assert_eq!(rows(said.as_bytes()), count, "{said}");
        }
    }
}
