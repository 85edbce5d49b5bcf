//! Reads another process's memory, and never writes it.

use std::io::{self, IoSliceMut};

use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;

/// Most places one call may read (the kernel's limit on vectors).
const BATCH: usize = 1024;

/// Reads the 8-byte word at `address` in the process `pid`.
///
/// # Errors
///
/// When the process is gone, may not be read, or has nothing at that address.
pub fn read_word(pid: u32, address: u64) -> io::Result<u64> {
    let mut bytes = [0_u8; 8];
    let place = RemoteIoVec { base: usize_of(address)?, len: bytes.len() };
    let read = process_vm_readv(pid_of(pid)?, &mut [IoSliceMut::new(&mut bytes)], &[place])?;
    if read == bytes.len() { Ok(u64::from_ne_bytes(bytes)) } else { Err(short()) }
}

/// Reads the 4-byte word at each address in the process `pid`, with as few calls as possible.
///
/// # Errors
///
/// As for [`read_word`]; nothing is returned unless all were read.
pub fn read_words(pid: u32, addresses: &[u64]) -> io::Result<Vec<u32>> {
    let mut words = Vec::with_capacity(addresses.len());
    for batch in addresses.chunks(BATCH) {
        let mut bytes = vec![0_u8; batch.len() * 4];
        let places = batch
            .iter()
            .map(|&address| Ok(RemoteIoVec { base: usize_of(address)?, len: 4 }))
            .collect::<io::Result<Vec<_>>>()?;
        let read = process_vm_readv(pid_of(pid)?, &mut [IoSliceMut::new(&mut bytes)], &places)?;
        if read != bytes.len() {
            return Err(short());
        }
        words.extend(bytes.chunks_exact(4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]])));
    }
    Ok(words)
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
        let places = [at(&raw const short[1]), at(&raw const short[0])];
        assert_eq!(read_words(id(), &places).expect("own memory"), [9, 7]);
        assert_eq!(read_words(id(), &[]).expect("nothing to read"), []);
    }

    #[test]
    fn an_address_without_memory_and_a_process_that_is_gone_are_errors() {
        let word = 1_u32;
        let good = (&raw const word) as usize as u64;
        for address in [0, 8, u64::MAX - 7] {
            assert!(read_word(id(), address).is_err());
            assert!(read_words(id(), &[good, address]).is_err());
        }
        assert!(read_word(u32::MAX, good).is_err());
    }
}
