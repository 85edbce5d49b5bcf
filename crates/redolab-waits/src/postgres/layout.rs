//! Where a server's processes publish their wait events.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

use super::memory;
use super::symbol::{self, Mapping};

/// The program's own variables lie together: what a process that just began points to is this near.
const OWN_VARIABLES: u64 = 16 << 20;

/// Where things lie in the processes of one server.
pub struct Layout {
    postmaster: u32,
    /// Address of the pointer to the published event, the same in every process.
    pub pointer: u64,
    program: (u64, u64),
    shared: Vec<Mapping>,
}

/// What a process's pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A place in the server's shared memory.
    Shared(u64),
    /// A variable of its own: it has no place in shared memory, or not yet.
    Own,
    /// Something else, which is not followed: perhaps shared memory that was made meanwhile.
    Unknown,
}

impl Layout {
    /// Finds out where things lie.
    ///
    /// # Errors
    ///
    /// `PermissionDenied` when the server's memory may not be read, `Unsupported` when the program
    /// is none this can read, `NotFound` when there is no such process.
    pub fn of(postmaster: u32) -> io::Result<Self> {
        let pointer = symbol::pointer_address(postmaster)?;
        // Looking at the mappings can be allowed where reading the memory is not: find out now.
        memory::read_word(postmaster, pointer)?;
        let shared = symbol::shared_mappings(postmaster)?;
        Ok(Self { postmaster, pointer, program: program_of(postmaster)?, shared })
    }

    /// Looks for the shared memory anew: after a crash of one of its processes a server goes on
    /// with other memory, maybe elsewhere.
    pub fn renew(&mut self) {
        self.shared = symbol::shared_mappings(self.postmaster).unwrap_or_default();
    }

    /// Whether an event can be published at `address`.
    pub fn holds(&self, address: u64) -> bool {
        let inside = |m: &Mapping| m.start <= address && address <= m.end.saturating_sub(4);
        address % 4 == 0 && self.shared.iter().any(inside)
    }

    /// What the pointer of the process `pid` points to.
    pub fn target(&self, pid: u32) -> Target {
        match memory::read_word(pid, self.pointer) {
            Ok(address) if self.holds(address) => Target::Shared(address),
            Ok(address) if address.abs_diff(self.pointer) > OWN_VARIABLES => Target::Unknown,
            _ => Target::Own,
        }
    }

    /// Whether the process runs the server's program: the pointer is there in no other.
    pub fn is_of_server(&self, pid: u32) -> bool {
        program_of(pid).is_ok_and(|program| program == self.program)
    }
}

/// Device and inode of the program that a process runs.
fn program_of(pid: u32) -> io::Result<(u64, u64)> {
    let program = fs::metadata(format!("/proc/{pid}/exe"))?;
    Ok((program.dev(), program.ino()))
}
