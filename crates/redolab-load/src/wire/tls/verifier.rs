//! Judges the certificate that a server shows, as libpq does.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};
use x509_cert::Certificate;
use x509_cert::certificate::Version;
use x509_cert::der::{Decode, Encode};

use super::names;
use super::roots::{Trusted, inside};
use crate::wire::refusal::Refusal;

/// Whatever is asked for, the server must have the key of the certificate that it shows.
#[derive(Debug)]
pub(super) struct Verifier {
    trusted: Option<Trusted>,
    host: Option<String>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Verifier {
    /// Without `trusted` any certificate will do, without `host` one for any host.
    pub(super) fn new(
        trusted: Option<Trusted>,
        host: Option<String>,
        algorithms: WebPkiSupportedAlgorithms,
    ) -> Self {
        Self { trusted, host, algorithms }
    }

    /// The key's part of a handshake in TLS 1.2, for a certificate that is too old for rustls to read.
    fn check_old(
        &self,
        message: &[u8],
        certificate: &Certificate,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = certificate.tbs_certificate().subject_public_key_info();
        let kind = inside(&key.algorithm).ok_or(CertificateError::BadEncoding)?;
        let schemes = self.algorithms.mapping.iter().filter(|(scheme, _)| *scheme == signed.scheme);
        let valid = schemes.flat_map(|(_, algorithms)| *algorithms).any(|algorithm| {
            *algorithm.public_key_alg_id() == *kind
                && algorithm
                    .verify_signature(
                        key.subject_public_key.raw_bytes(),
                        message,
                        signed.signature(),
                    )
                    .is_ok()
        });
        if valid {
            Ok(HandshakeSignatureValid::assertion())
        } else {
            Err(CertificateError::BadSignature.into())
        }
    }
}

fn read(certificate: &CertificateDer<'_>) -> Result<Certificate, Error> {
    Certificate::from_der(certificate).map_err(|_| CertificateError::BadEncoding.into())
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let certificate = read(end_entity)?;
        if let Some(trusted) = &self.trusted {
            trusted.check(end_entity, &certificate, intermediates, &self.algorithms, now)?;
        }
        if let Some(host) = &self.host {
            names::check(&certificate, host).map_err(|why| {
                let why =
                    format!("the server's certificate does not match host name {host}: {why}");
                CertificateError::Other(OtherError(Arc::new(Refusal(why))))
            })?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let certificate = read(cert)?;
        if certificate.tbs_certificate().version() == Version::V3 {
            return verify_tls12_signature(message, cert, dss, &self.algorithms);
        }
        self.check_old(message, &certificate, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = read(cert)?.tbs_certificate().subject_public_key_info().to_der();
        let key = SubjectPublicKeyInfoDer::from(key.map_err(|_| CertificateError::BadEncoding)?);
        verify_tls13_signature_with_raw_key(message, &key, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
