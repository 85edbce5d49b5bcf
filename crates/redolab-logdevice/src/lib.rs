//! The emulated log device: a library that makes a server's log flush take as long as an experiment asks for.
//!
//! The server preloads it. What it does, and the layout of the page that controls it, stand at the top of
//! `flush_delay.c`. This crate only carries the compiled file, so that whoever starts a server can write it beside
//! the server and name it in `LD_PRELOAD`.

/// The shared object's bytes; empty where the library does not exist (outside Linux).
pub const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/flush_delay.so"));

#[cfg(test)]
mod tests {
    use super::LIBRARY;

    #[test]
    #[cfg(target_os = "linux")]
    fn the_library_is_a_shared_object_that_replaces_both_calls() {
        assert_eq!(LIBRARY.get(..4), Some(&b"\x7fELF"[..]));
        for symbol in [&b"\0fdatasync\0"[..], &b"\0fsync\0"[..]] {
            assert!(LIBRARY.windows(symbol.len()).any(|bytes| bytes == symbol));
        }
    }

    #[test]
    #[cfg(not(target_os = "linux"))]
    fn there_is_no_library_outside_linux() {
        assert!(LIBRARY.is_empty());
    }
}
