//! Certificates of registers that are not accepted: why, and what to do.

use std::error::Error;
use std::io;

use rustls::{CertificateError, OtherError};

/// Returns what is wrong with the certificate of a register, and what to do; None for any other error.
pub(crate) fn problem(error: &ureq::Error) -> Option<String> {
    let ureq::Error::Io(error) = error else {
        return None;
    };
    let Some(rustls::Error::InvalidCertificate(error)) = inner::<rustls::Error>(error) else {
        return None;
    };
    Some(match error {
        CertificateError::UnknownIssuer => {
            "its certificate is of an authority that this host does not trust; name the certificate of that authority \
             with --ca-file"
                .to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            format!("its certificate is for another name: {error}; use an address that the certificate has")
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            format!("its certificate has expired: {error}; renew it, or set the clock of this host")
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            format!("its certificate is not valid yet: {error}; set the clock of this host")
        }
        CertificateError::Other(other) if is_of_authority(other) => {
            "it sends the certificate of an authority (CA:TRUE), which no server may use as its own; let the authority \
             issue one for this name, or create one with basicConstraints CA:FALSE"
                .to_owned()
        }
        _ => format!("its certificate is not accepted: {error}"),
    })
}

fn is_of_authority(error: &OtherError) -> bool {
    matches!(
        error.0.downcast_ref::<webpki::Error>(),
        Some(webpki::Error::CaUsedAsEndEntity)
    )
}

/// Returns the error of a type that an error of the transport contains.
fn inner<E: Error + 'static>(error: &io::Error) -> Option<&E> {
    let mut found: &(dyn Error + 'static) = error.get_ref()?;
    loop {
        match found.downcast_ref::<E>() {
            Some(inner) => return Some(inner),
            None => found = found.source()?,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn problem_of(error: CertificateError) -> String {
        problem(&ureq::Error::Io(io::Error::new(
            io::ErrorKind::InvalidData,
            rustls::Error::InvalidCertificate(error),
        )))
        .unwrap()
    }

    #[test]
    fn each_problem_of_a_certificate_says_what_to_do() {
        let of_authority = CertificateError::Other(OtherError(Arc::new(webpki::Error::CaUsedAsEndEntity)));
        for (error, words) in [
            (
                CertificateError::UnknownIssuer,
                "name the certificate of that authority with --ca-file",
            ),
            (
                CertificateError::NotValidForName,
                "use an address that the certificate has",
            ),
            (CertificateError::Expired, "renew it, or set the clock"),
            (CertificateError::NotValidYet, "set the clock of this host"),
            (of_authority, "create one with basicConstraints CA:FALSE"),
            (CertificateError::BadSignature, "its certificate is not accepted"),
        ] {
            let sentence = problem_of(error);
            assert!(sentence.contains(words), "{sentence}");
        }
    }

    #[test]
    fn other_errors_are_not_of_a_certificate() {
        let refused = io::Error::new(io::ErrorKind::ConnectionRefused, "refused");
        for error in [ureq::Error::Io(refused), ureq::Error::ConnectionFailed] {
            assert_eq!(problem(&error), None);
        }
    }
}
