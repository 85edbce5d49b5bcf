//! Reads another process's memory, and never writes it.

use std::io::{self, IoSliceMut};

use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;

/// Reads the 8-byte word at `address` in the process `pid`.
///
/// # Errors
///
/// When the process is gone, may not be read, or has nothing at that address.
pub fn read_word(pid: u32, address: u64) -> io::Result<u64> {
    read(pid, address).map(u64::from_ne_bytes)
}

/// Reads the 4-byte word at `address` in the process `pid`.
///
/// # Errors
///
/// As for [`read_word`].
pub fn read_short(pid: u32, address: u64) -> io::Result<u32> {
    read(pid, address).map(u32::from_ne_bytes)
}

fn read<const LENGTH: usize>(pid: u32, address: u64) -> io::Result<[u8; LENGTH]> {
    let mut bytes = [0_u8; LENGTH];
    let place = RemoteIoVec { base: usize_of(address)?, len: LENGTH };
    let read = process_vm_readv(pid_of(pid)?, &mut [IoSliceMut::new(&mut bytes)], &[place])?;
    if read == LENGTH { Ok(bytes) } else { Err(short()) }
}

fn pid_of(pid: u32) -> io::Result<Pid> {
    i32::try_from(pid).map(Pid::from_raw).map_err(io::Error::other)
}

fn usize_of(address: u64) -> io::Result<usize> {
    usize::try_from(address).map_err(io::Error::other)
}

fn short() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the memory ends before what was asked for")
}

#[cfg(test)]
mod tests {
    use std::process::id;

    use super::*;

    #[test]
    fn this_process_reads_its_own_words() {
        let long = 0x0123_4567_89ab_cdef_u64;
        let short = [7_u32, 9];
        let at = |value: *const u32| value as usize as u64;
        assert_eq!(read_word(id(), (&raw const long) as usize as u64).expect("own memory"), long);
        assert_eq!(read_short(id(), at(&raw const short[1])).expect("own memory"), 9);
    }

    #[test]
    fn an_address_without_memory_and_a_process_that_is_gone_are_errors() {
        let word = 1_u32;
        let good = (&raw const word) as usize as u64;
        for address in [0, 8, u64::MAX - 7] {
            assert!(read_word(id(), address).is_err());
            assert!(read_short(id(), address).is_err());
        }
        assert!(read_short(u32::MAX, good).is_err());
    }
}
