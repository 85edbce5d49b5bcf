//! Says in plain words what went wrong in a handshake.

use rustls::{AlertDescription, CertificateError, Error};

/// Why there is no TLS, without a full stop.
pub(crate) fn handshake_words(error: &Error) -> String {
    match error {
        Error::InvalidCertificate(why) => certificate_words(why),
        Error::AlertReceived(alert) => alert_words(*alert),
        Error::PeerIncompatible(why) => {
            format!("the server and Redolab have no TLS version or cipher in common ({why:?})")
        }
        Error::InvalidMessage(_) => "the server's answer is not TLS".to_owned(),
        other => format!("the TLS handshake failed ({other})"),
    }
}

fn certificate_words(error: &CertificateError) -> String {
    match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the server's certificate has expired".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the server's certificate is not valid yet".to_owned()
        }
        CertificateError::UnknownIssuer => {
            "the server's certificate is not trusted: no trusted root certificate vouches for it"
                .to_owned()
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "the server's certificate is not for a server".to_owned()
        }
        CertificateError::Other(why) => why.to_string(),
        other => format!("the server's certificate cannot be verified by Redolab's load ({other})"),
    }
}

fn alert_words(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::UnknownCA
        | AlertDescription::BadCertificate
        | AlertDescription::CertificateExpired
        | AlertDescription::CertificateRevoked
        | AlertDescription::CertificateUnknown
        | AlertDescription::DecryptError
        | AlertDescription::UnsupportedCertificate => {
            format!("the server does not accept the client certificate ({alert:?})")
        }
        AlertDescription::CertificateRequired => {
            "the server requires a client certificate (CertificateRequired)".to_owned()
        }
        AlertDescription::HandshakeFailure | AlertDescription::ProtocolVersion => {
            format!("the server and Redolab have no TLS version or cipher in common ({alert:?})")
        }
        other => format!("the server refused the TLS handshake ({other:?})"),
    }
}
