//! Transaction scripts of pgbench: read, and executed as far as no server is needed.
//!
//! A [`Script`] is a file that was read: SQL statements, and meta commands between them. A [`Walk`] is one client's
//! way through scripts: it evaluates expressions, takes branches, draws random numbers, and hands out each [`Step`]
//! that needs a server or the clock. Random numbers are those of pgbench (PostgreSQL 15 and later) for the same seed,
//! so that both can be compared statement by statement.
//!
//! A script comes from outside. What is read has bounds: the bytes of a file, the depth of an expression.
//!
//! Source: PostgreSQL documentation, pgbench.

mod draws;
mod evaluate;
mod expression;
mod fault;
mod functions;
mod meta;
mod parse;
mod place;
mod script;
mod sql;
mod tokens;
mod value;
mod walk;

pub use fault::Fault;
pub use script::{Keep, MOST_BYTES, Pipeline, Script};
pub use sql::{Protocol, Sql};
pub use value::Value;
pub use walk::{Seeds, Step, Walk};
