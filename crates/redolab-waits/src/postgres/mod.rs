//! What is known of a PostgreSQL server: its processes, and where they publish their wait events in its memory.

pub mod kind;
pub mod layout;
pub mod memory;
mod symbol;
pub mod tasks;
