//! Name lookup in pure Rust: /etc/hosts and /etc/resolv.conf of the host.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{NameServerConfigGroup, ResolverConfig};
use hickory_resolver::name_server::TokioConnectionProvider;
use tokio::runtime::Builder;
use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

const DNS_PORT: u16 = 53;

/// Looks names up with hickory-resolver.
pub struct HostResolver;

impl fmt::Debug for HostResolver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("HostResolver")
    }
}

impl Resolver for HostResolver {
    fn resolve(&self, uri: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let host = uri.host().unwrap_or_default();
        let default_port = if uri.scheme_str() == Some("http") { 80 } else { 443 };
        let port = uri.port_u16().unwrap_or(default_port);
        let mut found = self.empty();
        let room = 16;
        for address in addresses(host)?.into_iter().take(room) {
            found.push(SocketAddr::new(address, port));
        }
        if found.is_empty() {
            return Err(Error::HostNotFound);
        }
        Ok(found)
    }
}

/// Returns the addresses of a host, which may be an address itself.
fn addresses(host: &str) -> io::Result<Vec<IpAddr>> {
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = literal.parse() {
        return Ok(vec![address]);
    }
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let found = runtime.block_on(async { resolver().lookup_ip(host).await });
    let failed = |error| {
        io::Error::new(
            io::ErrorKind::NotFound,
            format!("{host}: name lookup failed: {error}"),
        )
    };
    Ok(found.map_err(failed)?.iter().collect())
}

/// Returns a resolver with the name servers of the host. Without /etc/resolv.conf, it is the host itself, as in the C
/// library: names of a lab do not go to public servers.
fn resolver() -> TokioResolver {
    let builder = TokioResolver::builder_tokio().unwrap_or_else(|_| {
        let local = [IpAddr::V4(Ipv4Addr::LOCALHOST)];
        let servers = NameServerConfigGroup::from_ips_clear(&local, DNS_PORT, true);
        let config = ResolverConfig::from_parts(None, vec![], servers);
        TokioResolver::builder_with_config(config, TokioConnectionProvider::default())
    });
    builder.build()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn addresses_need_no_lookup() {
        assert_eq!(
            addresses("192.0.2.7").unwrap(),
            ["192.0.2.7".parse::<IpAddr>().unwrap()]
        );
        assert_eq!(addresses("[::1]").unwrap(), ["::1".parse::<IpAddr>().unwrap()]);
    }

    #[test]
    fn localhost_is_this_host() {
        assert!(addresses("localhost").unwrap().iter().all(IpAddr::is_loopback));
    }
}
