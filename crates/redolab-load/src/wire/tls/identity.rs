//! The certificate and the key by which a client introduces itself.

use std::path::Path;
use std::sync::Arc;

use rustls::client::ResolvesClientCert;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use rustls::sign::{CertifiedKey, SingleCertAndKey};

use super::certificates::{certificates, read};

pub(super) fn identity(
    certificate: &Path,
    key: &Path,
) -> Result<Arc<dyn ResolvesClientCert>, String> {
    let chain = certificates(certificate)?;
    if chain.is_empty() {
        return Err(format!(
            "no certificate is in the client certificate's file {}",
            certificate.display()
        ));
    }
    let bytes = read(key)?;
    if is_encrypted(&bytes) {
        return Err(format!(
            "the client key {} is encrypted, and Redolab's load from a client cannot ask for its password",
            key.display()
        ));
    }
    let unreadable =
        || format!("the client key {} is in no form that Redolab can read", key.display());
    let key = PrivateKeyDer::from_pem_slice(&bytes)
        .or_else(|_| PrivateKeyDer::try_from(bytes).map_err(|_| ()))
        .map_err(|()| unreadable())?;
    let key = ring::sign::any_supported_type(&key).map_err(|_| unreadable())?;
    // Not checked against the certificate, which libpq has done, and which versions before 3 do not pass here.
    Ok(Arc::new(SingleCertAndKey::from(CertifiedKey::new(chain, key))))
}

/// Both forms that OpenSSL writes.
fn is_encrypted(key: &[u8]) -> bool {
    let text = String::from_utf8_lossy(key);
    text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_an_encrypted_key_are_known() {
        assert!(is_encrypted(b"-----BEGIN ENCRYPTED PRIVATE KEY-----\n"));
        assert!(is_encrypted(b"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"));
        assert!(!is_encrypted(b"-----BEGIN PRIVATE KEY-----\n"));
        assert!(!is_encrypted(&[0x30, 0x82, 0xff]));
    }
}
