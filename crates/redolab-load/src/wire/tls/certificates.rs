//! Reads the files of certificates and keys that the user names.

use std::path::Path;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

pub(super) fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    CertificateDer::pem_slice_iter(&read(file)?)
        .collect::<Result<_, _>>()
        .map_err(|why| format!("{} cannot be read as certificates ({why})", file.display()))
}

pub(super) fn read(file: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(file).map_err(|why| format!("{} cannot be read ({why})", file.display()))
}
