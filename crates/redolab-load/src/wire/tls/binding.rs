//! Channel binding: the hash by which both ends make sure that they mean the same certificate (RFC 5929).

use ring::digest::{Algorithm, SHA256, SHA384, SHA512, digest};
use rustls::pki_types::CertificateDer;
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::der::oid::ObjectIdentifier;

/// Signatures, and the hash that goes with each. MD5 and SHA-1 are replaced by SHA-256.
const HASHES: [(&str, &Algorithm); 9] = [
    ("1.2.840.113549.1.1.4", &SHA256),
    ("1.2.840.113549.1.1.5", &SHA256),
    ("1.2.840.10045.4.1", &SHA256),
    ("1.2.840.113549.1.1.11", &SHA256),
    ("1.2.840.10045.4.3.2", &SHA256),
    ("1.2.840.113549.1.1.12", &SHA384),
    ("1.2.840.10045.4.3.3", &SHA384),
    ("1.2.840.113549.1.1.13", &SHA512),
    ("1.2.840.10045.4.3.4", &SHA512),
];

/// The `tls-server-end-point` of a server's certificate; None where its signature has no hash of its own.
pub(crate) fn end_point(certificate: &CertificateDer<'_>) -> Option<Vec<u8>> {
    let signature = Certificate::from_der(certificate).ok()?.signature_algorithm().oid;
    let (_, hash) = HASHES.iter().find(|(oid, _)| ObjectIdentifier::new(oid) == Ok(signature))?;
    Some(digest(hash, certificate).as_ref().to_vec())
}
