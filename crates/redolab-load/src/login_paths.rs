//! Login paths of MySQL's clients: the obfuscated file that `mysql_config_editor` writes.
//!
//! The file has 4 unused bytes, 20 bytes from which the key is folded, and chunks: a length (4 bytes, little
//! endian), then as many bytes of AES-128 in ECB mode, padded as PKCS #7. Each chunk is one line of an option
//! file. This hides a password from a glance and protects it from nobody: the key is in the file. Source:
//! MySQL's `mysys_ssl/my_default.cc` and `client/mysql_config_editor.cc`; MySQL Reference Manual,
//! "`mysql_config_editor`".

use std::fmt;

use aes::Aes128;
use aes::cipher::{BlockCipherDecrypt, KeyInit};

const UNUSED: usize = 4;
const SECRET: usize = 20;
const LENGTH: usize = 4;
const BLOCK: usize = 16;
/// Bytes of the longest file that is read.
pub const MOST_BYTES: usize = 1 << 16;
/// Bytes of the longest chunk: MySQL's own reader stops at lines of 4,096 bytes.
const MOST_CHUNK: usize = 4096;
const MOST_CHUNKS: usize = 1024;

/// Why a file of login paths cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// It has more than `MOST_BYTES`, or more chunks than are read.
    TooLong,
    /// It ends within its head or within a chunk.
    Short,
    /// A chunk's length is impossible.
    Length,
    /// A chunk does not decrypt to padded text.
    Text,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::TooLong => "it is too long",
            Self::Short => "it ends too early",
            Self::Length => "the length of a line in it is impossible",
            Self::Text => "a line in it cannot be decrypted",
        })
    }
}

/// The text of an option file, from the bytes of `.mylogin.cnf`.
///
/// # Errors
///
/// The bytes are not such a file, or are longer than any that a person writes.
pub fn login_paths(file: &[u8]) -> Result<String, Unreadable> {
    if file.len() > MOST_BYTES {
        return Err(Unreadable::TooLong);
    }
    let (head, mut rest) = file.split_at_checked(UNUSED + SECRET).ok_or(Unreadable::Short)?;
    let cipher = Aes128::new(&folded(&head[UNUSED..]).into());
    let mut text = Vec::with_capacity(rest.len());
    for _ in 0..MOST_CHUNKS {
        if rest.is_empty() {
            return String::from_utf8(text).map_err(|_| Unreadable::Text);
        }
        let (length, after) = rest.split_first_chunk::<LENGTH>().ok_or(Unreadable::Short)?;
        let length =
            usize::try_from(u32::from_le_bytes(*length)).map_err(|_| Unreadable::Length)?;
        if length == 0 || length > MOST_CHUNK || length % BLOCK != 0 {
            return Err(Unreadable::Length);
        }
        let (chunk, after) = after.split_at_checked(length).ok_or(Unreadable::Short)?;
        decrypt(&cipher, chunk, &mut text)?;
        rest = after;
    }
    if rest.is_empty() {
        String::from_utf8(text).map_err(|_| Unreadable::Text)
    } else {
        Err(Unreadable::TooLong)
    }
}

fn folded(secret: &[u8]) -> [u8; BLOCK] {
    let mut key = [0; BLOCK];
    for (place, byte) in secret.iter().enumerate() {
        key[place % BLOCK] ^= byte;
    }
    key
}

/// Appends a chunk without its padding.
fn decrypt(cipher: &Aes128, chunk: &[u8], text: &mut Vec<u8>) -> Result<(), Unreadable> {
    let start = text.len();
    for block in chunk.chunks_exact(BLOCK) {
        let mut block: [u8; BLOCK] = block.try_into().map_err(|_| Unreadable::Length)?;
        cipher.decrypt_block((&mut block).into());
        text.extend_from_slice(&block);
    }
    let padding = usize::from(*text.last().ok_or(Unreadable::Text)?);
    let end = text.len() - padding.min(text.len() - start);
    if !(1..=BLOCK).contains(&padding)
        || text[end..].iter().any(|&byte| usize::from(byte) != padding)
    {
        return Err(Unreadable::Text);
    }
    text.truncate(end);
    Ok(())
}

#[cfg(test)]
mod tests {
    use aes::cipher::BlockCipherEncrypt;

    use super::*;

    const SECRET_BYTES: [u8; SECRET] =
        [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 255, 254, 253, 252, 251, 250, 17, 34, 51, 68];

    fn written(lines: &[&str]) -> Vec<u8> {
        let cipher = Aes128::new(&folded(&SECRET_BYTES).into());
        let mut file = vec![0; UNUSED];
        file.extend_from_slice(&SECRET_BYTES);
        for line in lines {
            let padding = BLOCK - line.len() % BLOCK;
            let mut plain = line.as_bytes().to_vec();
            plain.resize(line.len() + padding, u8::try_from(padding).unwrap());
            file.extend_from_slice(&u32::try_from(plain.len()).unwrap().to_le_bytes());
            for block in plain.chunks_exact(BLOCK) {
                let mut block: [u8; BLOCK] = block.try_into().unwrap();
                cipher.encrypt_block((&mut block).into());
                file.extend_from_slice(&block);
            }
        }
        file
    }

    #[test]
    fn lines_are_read_whatever_their_length() {
        let lines = [
            "[client]\n",
            "user = \"me\"\n",
            "password = \"0123456789012345678901\"\n",
            "host = \"a.b\"\nx",
        ];
        assert_eq!(login_paths(&written(&lines)).unwrap(), lines.concat());
        assert_eq!(login_paths(&written(&[])).unwrap(), "");
    }

    #[test]
    fn the_key_is_folded_from_all_bytes() {
        assert_eq!(folded(&SECRET_BYTES)[..5], [0x18, 0x2a, 0x34, 0x42, 0x05]);
    }

    #[test]
    fn a_file_that_is_cut_or_changed_is_refused() {
        let whole = written(&["[client]\n", "user = \"me\"\n"]);
        for end in 0..whole.len() {
            let cut = login_paths(&whole[..end]);
            if end == UNUSED + SECRET || end == UNUSED + SECRET + LENGTH + BLOCK {
                assert!(cut.is_ok());
            } else {
                assert_eq!(cut, Err(Unreadable::Short), "{end}");
            }
        }
        let mut other_key = whole.clone();
        other_key[UNUSED] ^= 1;
        assert_eq!(login_paths(&other_key), Err(Unreadable::Text));
    }

    #[test]
    fn what_is_asked_of_memory_and_time_has_bounds() {
        let head = written(&[]);
        for length in [0, 1, 17, 4112, 0x7fff_fff0, u32::MAX] {
            let file = [&head[..], &length.to_le_bytes(), &[0; 32]].concat();
            assert_eq!(login_paths(&file), Err(Unreadable::Length), "{length}");
        }
        assert_eq!(login_paths(&vec![0; MOST_BYTES + 1]), Err(Unreadable::TooLong));
        assert_eq!(login_paths(&written(&vec!["x"; MOST_CHUNKS + 1])), Err(Unreadable::TooLong));
        assert!(login_paths(&written(&vec!["x"; MOST_CHUNKS])).is_ok());
    }
}
