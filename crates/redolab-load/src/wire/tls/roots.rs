//! The certificates that the user trusts, and what they vouch for, by the rules of libpq's OpenSSL.

use std::path::Path;
use std::time::Duration;

use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, Error, RootCertStore};
use x509_cert::Certificate;
use x509_cert::certificate::Version;
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::der::{Decode, Encode};
use x509_cert::ext::pkix::{BasicConstraints, ExtendedKeyUsage, KeyUsage, NameConstraints};
use x509_cert::spki::AlgorithmIdentifierOwned;

use super::certificates::certificates;

const SERVER: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.1");
const ANY_PURPOSE: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.37.0");
/// Critical extensions that are heeded here: key usage, alternative names, basic constraints, purposes.
const HEEDED: [ObjectIdentifier; 4] = [
    ObjectIdentifier::new_unwrap("2.5.29.15"),
    ObjectIdentifier::new_unwrap("2.5.29.17"),
    ObjectIdentifier::new_unwrap("2.5.29.19"),
    ObjectIdentifier::new_unwrap("2.5.29.37"),
];

/// Trusted certificates.
#[derive(Debug)]
pub(super) struct Trusted {
    /// Those that are their own issuer, as OpenSSL wants the end of a chain.
    roots: Vec<(CertificateDer<'static>, Certificate)>,
    /// Those of them that may sign others.
    anchors: RootCertStore,
    /// Links of a chain between a root and the server.
    between: Vec<CertificateDer<'static>>,
}

impl Trusted {
    pub(super) fn file(file: &Path) -> Result<Self, String> {
        let trusted = Self::new(certificates(file)?);
        if trusted.roots.is_empty() {
            return Err(format!(
                "no root certificate, which is one that is its own issuer, is in {}",
                file.display()
            ));
        }
        Ok(trusted)
    }

    pub(super) fn system() -> Result<Self, String> {
        let found = rustls_native_certs::load_native_certs();
        let trusted = Self::new(found.certs);
        if trusted.roots.is_empty() {
            return Err("the operating system's root certificates were not found".to_owned());
        }
        Ok(trusted)
    }

    fn new(all: Vec<CertificateDer<'static>>) -> Self {
        let now = UnixTime::now();
        let mut trusted =
            Self { roots: Vec::new(), anchors: RootCertStore::empty(), between: Vec::new() };
        for der in all {
            let Ok(certificate) = Certificate::from_der(&der) else { continue };
            let content = certificate.tbs_certificate();
            if content.issuer() != content.subject() {
                trusted.between.push(der);
                continue;
            }
            if may_sign(&certificate) && in_time(&certificate, now).is_ok() {
                let _ = trusted.anchors.add(der.clone());
            }
            trusted.roots.push((der, certificate));
        }
        trusted
    }

    /// Make sure that these vouch for a server's certificate.
    pub(super) fn check(
        &self,
        der: &CertificateDer<'_>,
        certificate: &Certificate,
        sent: &[CertificateDer<'_>],
        algorithms: &WebPkiSupportedAlgorithms,
        now: UnixTime,
    ) -> Result<(), Error> {
        if self.roots.iter().any(|(root, _)| root == der) {
            return in_time(certificate, now).and_then(|()| may_serve(certificate));
        }
        if is_usual(certificate) {
            let sent = sent.iter().chain(&self.between).cloned().collect::<Vec<_>>();
            let parsed = ParsedCertificate::try_from(der)?;
            return verify_server_cert_signed_by_trust_anchor(
                &parsed,
                &self.anchors,
                &sent,
                now,
                algorithms.all,
            );
        }
        in_time(certificate, now)?;
        may_serve(certificate)?;
        let signed = |(_, root): &(_, Certificate)| {
            may_sign(root)
                // Which names a root may vouch for is not looked at here: one with limits vouches for none.
                && matches!(root.tbs_certificate().get_extension::<NameConstraints>(), Ok(None))
                && in_time(root, now).is_ok()
                && is_signed_by(certificate, root, algorithms)
        };
        if self.roots.iter().any(signed) {
            Ok(())
        } else {
            Err(CertificateError::UnknownIssuer.into())
        }
    }
}

/// What the usual verification takes: not a certificate of version 1, which `openssl x509 -req` makes, nor one that
/// could sign others, which `openssl req -x509` makes. Both are common for PostgreSQL, and OpenSSL takes both. They
/// are taken here where a root itself has signed them.
fn is_usual(certificate: &Certificate) -> bool {
    let content = certificate.tbs_certificate();
    let constraints = content.get_extension::<BasicConstraints>();
    content.version() == Version::V3
        && !matches!(constraints, Ok(Some((_, BasicConstraints { ca: true, .. }))))
}

fn is_signed_by(
    certificate: &Certificate,
    root: &Certificate,
    algorithms: &WebPkiSupportedAlgorithms,
) -> bool {
    let (content, signer) = (certificate.tbs_certificate(), root.tbs_certificate());
    if content.issuer() != signer.subject() {
        return false;
    }
    let key = signer.subject_public_key_info();
    let (Ok(message), Some(used), Some(kind)) =
        (content.to_der(), inside(certificate.signature_algorithm()), inside(&key.algorithm))
    else {
        return false;
    };
    let (key, signature) =
        (key.subject_public_key.raw_bytes(), certificate.signature().raw_bytes());
    algorithms.all.iter().any(|algorithm| {
        *algorithm.signature_alg_id() == *used
            && *algorithm.public_key_alg_id() == *kind
            && algorithm.verify_signature(key, &message, signature).is_ok()
    })
}

/// An algorithm's identifier without the head of its sequence, as rustls compares them.
pub(super) fn inside(algorithm: &AlgorithmIdentifierOwned) -> Option<Vec<u8>> {
    let der = algorithm.to_der().ok()?;
    // None that is compared with is as long as needs a longer head.
    der.get(2..).filter(|content| content.len() < 128).map(<[u8]>::to_vec)
}

fn in_time(certificate: &Certificate, now: UnixTime) -> Result<(), Error> {
    let validity = certificate.tbs_certificate().validity();
    let now = Duration::from_secs(now.as_secs());
    if now < validity.not_before.to_unix_duration() {
        return Err(CertificateError::NotValidYet.into());
    }
    if now > validity.not_after.to_unix_duration() {
        return Err(CertificateError::Expired.into());
    }
    Ok(())
}

/// Whether others may rely on what it signs.
fn may_sign(certificate: &Certificate) -> bool {
    let content = certificate.tbs_certificate();
    let (Ok(constraints), Ok(usage)) =
        (content.get_extension::<BasicConstraints>(), content.get_extension::<KeyUsage>())
    else {
        return false;
    };
    let signs = usage.map(|(_, usage)| usage.key_cert_sign());
    let authority = match constraints {
        Some((_, constraints)) => constraints.ca,
        None => content.version() == Version::V1 || signs == Some(true),
    };
    authority && signs != Some(false)
}

fn may_serve(certificate: &Certificate) -> Result<(), Error> {
    let content = certificate.tbs_certificate();
    let unheeded = content
        .extensions()
        .is_some_and(|all| all.iter().any(|one| one.critical && !HEEDED.contains(&one.extn_id)));
    if unheeded {
        return Err(CertificateError::UnhandledCriticalExtension.into());
    }
    let unread = |_| Error::from(CertificateError::BadEncoding);
    let purposes = content.get_extension::<ExtendedKeyUsage>().map_err(unread)?;
    let usage = content.get_extension::<KeyUsage>().map_err(unread)?;
    let serves =
        purposes.is_none_or(|(_, all)| all.0.contains(&SERVER) || all.0.contains(&ANY_PURPOSE));
    let agrees = usage.is_none_or(|(_, usage)| {
        usage.digital_signature() || usage.key_encipherment() || usage.key_agreement()
    });
    if serves && agrees { Ok(()) } else { Err(CertificateError::InvalidPurpose.into()) }
}
