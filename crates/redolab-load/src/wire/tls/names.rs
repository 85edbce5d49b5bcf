//! Whether a certificate is for a host, by the rules of libpq.

use std::net::IpAddr;

use x509_cert::Certificate;
use x509_cert::der::asn1::{Ia5StringRef, PrintableStringRef, TeletexStringRef, Utf8StringRef};
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::der::{Any, Decode, Encode};
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");

/// Make sure that `certificate` is for `host`; the error tells for whom it is.
pub(super) fn check(certificate: &Certificate, host: &str) -> Result<(), String> {
    let address: Option<IpAddr> = host.parse().ok();
    let mut names = Vec::new();
    let mut common_name_counts = true;
    let alternatives = certificate.tbs_certificate().get_extension::<SubjectAltName>();
    let alternatives = alternatives.map_err(|_| "its names cannot be read".to_owned())?;
    for name in alternatives.map(|(_, names)| names.0).unwrap_or_default() {
        match name {
            GeneralName::DnsName(name) => {
                common_name_counts &= address.is_some();
                if matches(name.as_str(), host) {
                    return Ok(());
                }
                names.push(name.as_str().to_owned());
            }
            GeneralName::IpAddress(bytes) => {
                common_name_counts &= address.is_none();
                let known = ip(bytes.as_bytes());
                if known.is_some() && known == address {
                    return Ok(());
                }
                names.extend(known.map(|known| known.to_string()));
            }
            _ => {}
        }
    }
    if let Some(name) = common_name(certificate).filter(|_| common_name_counts) {
        if matches(&name, host) {
            return Ok(());
        }
        names.push(name);
    }
    if names.is_empty() {
        return Err("it names no host".to_owned());
    }
    Err(format!("it is for {}", names.join(", ")))
}

/// The first that the subject has.
fn common_name(certificate: &Certificate) -> Option<String> {
    let subject = certificate.tbs_certificate().subject();
    let value =
        subject.iter().find(|name| name.oid == COMMON_NAME).map(|name| text(&name.value))?;
    value.filter(|name| !name.contains('\0'))
}

fn text(value: &Any) -> Option<String> {
    let der = value.to_der().ok()?;
    let text = Utf8StringRef::from_der(&der)
        .map(|text| text.as_str().to_owned())
        .or_else(|_| PrintableStringRef::from_der(&der).map(|text| text.as_str().to_owned()))
        .or_else(|_| Ia5StringRef::from_der(&der).map(|text| text.as_str().to_owned()))
        .or_else(|_| TeletexStringRef::from_der(&der).map(|text| text.as_str().to_owned()));
    text.ok()
}

fn ip(bytes: &[u8]) -> Option<IpAddr> {
    let four = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    four.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
}

/// Upper and lower case are the same. `*.` at the beginning stands for one label.
fn matches(pattern: &str, host: &str) -> bool {
    if pattern.eq_ignore_ascii_case(host) {
        return true;
    }
    let Some(rest) =
        pattern.strip_prefix('*').filter(|rest| rest.len() > 1 && rest.starts_with('.'))
    else {
        return false;
    };
    // The star stands for at least one character.
    let Some(label) = host.len().checked_sub(rest.len()).filter(|&label| label > 0) else {
        return false;
    };
    host.is_char_boundary(label)
        && host[label..].eq_ignore_ascii_case(rest)
        && !host[..label].contains('.')
}

#[cfg(test)]
mod tests {
    use super::{ip, matches};

    #[test]
    fn a_star_stands_for_one_label() {
        for (pattern, host) in [
            ("db.example.org", "DB.example.ORG"),
            ("*.example.org", "db.example.org"),
            ("*.Example.org", "d.example.org"),
        ] {
            assert!(matches(pattern, host), "{pattern} {host}");
        }
        for (pattern, host) in [
            ("*.example.org", "a.b.example.org"),
            ("*.example.org", ".example.org"),
            ("*.example.org", "example.org"),
            ("d*.example.org", "db.example.org"),
            ("*", "db"),
            ("*.", "db."),
            ("*b.example.org", "db.example.org"),
            ("db.example.org", "db.example.org.evil"),
            ("*.example.org", "ä.exämple.org"),
        ] {
            assert!(!matches(pattern, host), "{pattern} {host}");
        }
    }

    #[test]
    fn addresses_have_four_or_sixteen_bytes() {
        assert_eq!(ip(&[127, 0, 0, 1]), "127.0.0.1".parse().ok());
        assert_eq!(ip(&[0; 16]), "::".parse().ok());
        assert_eq!(ip(&[1, 2, 3]), None);
    }
}
