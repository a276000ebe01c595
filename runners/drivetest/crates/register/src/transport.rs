//! Connections to a register: addresses, trusted roots, proxies and time limits.

use std::env;
use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::unversioned::transport::DefaultConnector;
use ureq::{Agent, Proxy};

use crate::resolver::HostResolver;

const CONNECT_LIMIT: Duration = Duration::from_secs(30);
/// A connection that transfers nothing for this time is broken.
const IDLE_LIMIT: Duration = Duration::from_secs(90);
/// Variables that name the proxy, in the order of precedence.
const PROXY_VARIABLES: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
const NO_PROXY_VARIABLES: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// Settings of the client that cannot be used.
#[derive(Debug, Error)]
pub enum SettingsError {
    /// The address is no address of a register.
    #[error("{address}: expected the address of a register, such as https://register.example; {problem}")]
    Address {
        /// The address.
        address: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The file of roots cannot be read.
    #[error("{}: expected a file with certificates in PEM format; {problem}", path.display())]
    CaFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}

/// Returns the address of a register without a slash at its end.
///
/// # Errors
/// If it is no https address. http is for registers on the same host only, because it would show the token.
pub fn check_address(address: &str) -> Result<String, SettingsError> {
    let refuse = |problem| SettingsError::Address {
        address: address.to_owned(),
        problem,
    };
    let uri: Uri = address.parse().map_err(|_| refuse("got no address"))?;
    let host = uri.host().unwrap_or_default();
    let ip = host.trim_matches(['[', ']']).parse::<IpAddr>();
    let is_local = host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback());
    match uri.scheme_str() {
        _ if host.is_empty() => Err(refuse("got no host name")),
        Some("https") => Ok(()),
        Some("http") if is_local => Ok(()),
        Some("http") => Err(refuse("http would send the token unencrypted; use https")),
        _ => Err(refuse("it must begin with https://")),
    }?;
    if uri.query().is_some() || address.contains('@') {
        return Err(refuse("it must have no user name and no query"));
    }
    Ok(address.trim_end_matches('/').to_owned())
}

/// Returns an agent for the register at an address.
///
/// # Errors
/// If the file of roots cannot be used.
pub fn agent(address: &str, ca_file: Option<&Path>) -> Result<Agent, SettingsError> {
    let tls = TlsConfig::builder().root_certs(roots(ca_file)?).build();
    let config = Config::builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("drivetest/", env!("CARGO_PKG_VERSION")))
        .proxy(proxy(address, |name| env::var(name).ok()))
        .tls_config(tls)
        .timeout_connect(Some(CONNECT_LIMIT))
        .timeout_per_read(Some(IDLE_LIMIT))
        .timeout_per_write(Some(IDLE_LIMIT))
        .build();
    Ok(Agent::with_parts(
        config,
        DefaultConnector::default(),
        HostResolver,
    ))
}

/// Returns the proxy that the variables of the environment name. An http address needs no proxy, because it is
/// always on this host.
///
/// `Proxy::try_from_env` reads the variable for all protocols first.
fn proxy(address: &str, variable: impl Fn(&str) -> Option<String>) -> Option<Proxy> {
    if !address.starts_with("https:") {
        return None;
    }
    let values = |names: &'static [&'static str]| {
        let found = names.iter().filter_map(|name| variable(name));
        found.filter(|value| !value.is_empty())
    };
    let named = values(&PROXY_VARIABLES).find_map(|value| Proxy::new(&value).ok())?;
    let mut builder = Proxy::builder(named.protocol())
        .host(named.host())
        .port(named.port())
        .resolve_target(named.resolve_target());
    if let Some(username) = named.username() {
        builder = builder.username(username);
    }
    if let Some(password) = named.password() {
        builder = builder.password(password);
    }
    let without_proxy = values(&NO_PROXY_VARIABLES).next().unwrap_or_default();
    for host in without_proxy.split(',').map(str::trim) {
        builder = builder.no_proxy(host);
    }
    builder.build().ok()
}

/// Returns the roots of a file; else those that the host trusts; else those of Mozilla, which the program contains.
fn roots(ca_file: Option<&Path>) -> Result<RootCerts, SettingsError> {
    if let Some(path) = ca_file {
        return Ok(RootCerts::Specific(Arc::new(read_roots(path)?)));
    }
    let found = rustls_native_certs::load_native_certs().certs;
    let found: Vec<_> = found
        .iter()
        .map(|each| Certificate::from_der(each).to_owned())
        .collect();
    Ok(match found.is_empty() {
        true => RootCerts::WebPki,
        false => RootCerts::Specific(Arc::new(found)),
    })
}

fn read_roots(path: &Path) -> Result<Vec<Certificate<'static>>, SettingsError> {
    let refuse = |problem: String| SettingsError::CaFile {
        path: path.to_owned(),
        problem,
    };
    let pem = fs::read(path).map_err(|error: io::Error| refuse(error.to_string()))?;
    let mut found = Vec::new();
    for item in parse_pem(&pem) {
        if let PemItem::Certificate(certificate) = item.map_err(|error| refuse(error.to_string()))? {
            found.push(certificate);
        }
    }
    if found.is_empty() {
        return Err(refuse("found no certificate in it".to_owned()));
    }
    Ok(found)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_https_or_on_the_same_host() {
        let accepted = [
            "https://register.example/",
            "http://127.0.0.1:8000",
            "http://localhost",
            "http://[::1]:1",
        ];
        for address in accepted {
            assert_eq!(check_address(address).unwrap(), address.trim_end_matches('/'));
        }
        for address in [
            "http://register.example",
            "register.example",
            "ftp://x",
            "https://u:p@x",
            "https://x/?a=1",
            "",
        ] {
            assert!(check_address(address).is_err(), "{address}");
        }
    }

    /// Returns the proxy of some variables for a register over https.
    fn proxy_of(variables: &[(&str, &str)]) -> Option<Proxy> {
        let value = |name: &str| {
            let found = variables.iter().find(|(each, _)| *each == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        proxy("https://register.example", value)
    }

    #[test]
    fn the_proxy_for_https_is_used_before_the_one_for_all_protocols() {
        let both = [
            ("ALL_PROXY", "http://all.example:1"),
            ("all_proxy", "http://all.example:2"),
            ("https_proxy", "http://secure.example:3"),
        ];
        let port_of = |variables: &[(&str, &str)]| proxy_of(variables).map(|proxy| proxy.port());
        assert_eq!(port_of(&both), Some(3));
        assert_eq!(port_of(&both[..2]), Some(1));
        assert_eq!(port_of(&[both[0], ("HTTPS_PROXY", "")]), Some(1));
        assert_eq!(port_of(&[("HTTP_PROXY", "http://plain.example:4")]), None);
        let of_same_host = proxy("http://127.0.0.1", |_| Some("http://all.example:1".to_owned()));
        assert!(of_same_host.is_none());
    }

    #[test]
    fn a_proxy_keeps_its_user_and_the_hosts_that_need_none() {
        let variables = [
            ("HTTPS_PROXY", "http://lab:s%40cret@proxy.example:3128"),
            ("NO_PROXY", ".intern.example, 10.0.0.1"),
        ];
        let proxy = proxy_of(&variables).unwrap();
        assert_eq!(
            (proxy.username(), proxy.password()),
            (Some("lab"), Some("s@cret"))
        );
        let is_exempt = |address: &str| proxy.is_no_proxy(&address.parse().unwrap());
        assert!(is_exempt("https://register.intern.example"));
        assert!(is_exempt("https://10.0.0.1"));
        assert!(!is_exempt("https://register.example"));
    }

    #[test]
    fn a_file_of_roots_has_a_certificate() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("roots.pem");
        assert!(
            read_roots(&path)
                .unwrap_err()
                .to_string()
                .contains("No such file")
        );
        fs::write(&path, "no certificate\n").unwrap();
        assert!(
            read_roots(&path)
                .unwrap_err()
                .to_string()
                .contains("found no certificate")
        );
    }
}
