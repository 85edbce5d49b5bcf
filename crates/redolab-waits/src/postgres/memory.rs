//! Reads another process's memory, and never writes it.

use std::io::{self, IoSliceMut};

use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;

/// The kernel's limit for the parts of one reading.
const PARTS: usize = 1024;

/// Reads the 8-byte word at `address` in the process `pid`.
///
/// # Errors
///
/// When the process is gone, may not be read, or has nothing at that address.
pub fn read_word(pid: u32, address: u64) -> io::Result<u64> {
    let mut bytes = [0; 8];
    read(pid, &mut bytes, &[part(address, 8)?])?;
    Ok(u64::from_ne_bytes(bytes))
}

/// Reads the 4-byte word at `address` in the process `pid`.
///
/// # Errors
///
/// As for [`read_word`].
pub fn read_short(pid: u32, address: u64) -> io::Result<u32> {
    let mut bytes = [0; 4];
    read(pid, &mut bytes, &[part(address, 4)?])?;
    Ok(u32::from_ne_bytes(bytes))
}

/// 4-byte words at many places, read in one go.
#[derive(Default)]
pub struct Batch {
    parts: Vec<RemoteIoVec>,
    bytes: Vec<u8>,
}

impl Batch {
    /// Reads the words at `places` in the process `pid`.
    ///
    /// # Errors
    ///
    /// As for [`read_word`], when a single one of the places cannot be read.
    pub fn read(&mut self, pid: u32, places: impl Iterator<Item = u64>) -> io::Result<()> {
        self.parts.clear();
        for place in places {
            self.parts.push(part(place, 4)?);
        }
        self.bytes.resize(4 * self.parts.len(), 0);
        for (bytes, parts) in self.bytes.chunks_mut(4 * PARTS).zip(self.parts.chunks(PARTS)) {
            read(pid, bytes, parts)?;
        }
        Ok(())
    }

    /// The words read last, in the order of their places.
    pub fn words(&self) -> impl Iterator<Item = u32> {
        self.bytes.chunks_exact(4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
    }
}

fn read(pid: u32, bytes: &mut [u8], parts: &[RemoteIoVec]) -> io::Result<()> {
    let wanted = bytes.len();
    let pid = i32::try_from(pid).map(Pid::from_raw).map_err(io::Error::other)?;
    // The kernel stops before the first part that cannot be read.
    let read = process_vm_readv(pid, &mut [IoSliceMut::new(bytes)], parts)?;
    if read == wanted { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn part(address: u64, len: usize) -> io::Result<RemoteIoVec> {
    Ok(RemoteIoVec { base: usize::try_from(address).map_err(io::Error::other)?, len })
}

#[cfg(test)]
mod tests {
    use std::process::id;

    use super::*;

    fn at<T>(value: *const T) -> u64 {
        value as usize as u64
    }

    #[test]
    fn this_process_reads_its_own_words() {
        let long = 0x0123_4567_89ab_cdef_u64;
        let short = [7_u32, 9];
        assert_eq!(read_word(id(), at(&raw const long)).expect("own memory"), long);
        assert_eq!(read_short(id(), at(&raw const short[1])).expect("own memory"), 9);
    }

    #[test]
    fn many_words_come_in_their_order() {
        let words: Vec<u32> = (0..3000).collect();
        let places = words.iter().rev().map(|word| at(word));
        let mut batch = Batch::default();
        batch.read(id(), places).expect("own memory");
        assert!(batch.words().eq(words.iter().rev().copied()));
        batch.read(id(), std::iter::empty()).expect("nothing");
        assert_eq!(batch.words().count(), 0);
    }

    #[test]
    fn an_address_without_memory_and_a_process_that_is_gone_are_errors() {
        let word = 1_u64;
        let good = at(&raw const word);
        for address in [0, 8, u64::MAX - 7] {
            assert!(read_word(id(), address).is_err());
            assert!(read_short(id(), address).is_err());
            assert!(Batch::default().read(id(), [good, address, good].into_iter()).is_err());
        }
        assert!(read_word(u32::MAX, good).is_err());
    }
}
