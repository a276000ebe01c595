//! Trusted publishing: a CI job without a stored token exchanges its identity token (OpenID Connect) for a short one.

use std::env;

use drivetest_register::{Client, Error, Settings};
use serde_json::json;

/// The variable with the identity token of a job, such as GitLab sets it.
const VARIABLE: &str = "DRIVECERT_IDENTITY_TOKEN";
/// Where a job of GitHub Actions requests its identity token, and the secret of that request.
const GITHUB_ADDRESS: &str = "ACTIONS_ID_TOKEN_REQUEST_URL";
const GITHUB_SECRET: &str = "ACTIONS_ID_TOKEN_REQUEST_TOKEN";
const EXCHANGE: &str = "/api/v1/trusted-publishing/";

/// Returns the API token that the register gives this job for an organisation. `settings` need no token.
///
/// # Errors
/// A sentence, if the job has no identity token, or if the register does not accept it.
pub fn exchanged_token(settings: &Settings, organisation: &str) -> Result<String, String> {
    let client = Client::new(settings).map_err(|error| error.to_string())?;
    let exchange = || -> Result<_, String> {
        let identity = identity_token(settings, client.address())?;
        let stated = json!({"organisation": organisation, "identity_token": identity});
        Ok(client.post(EXCHANGE, &stated))
    };
    let mut response = exchange()?;
    // The response of an earlier attempt may be lost: then only a new identity token gets a token.
    let is_used = matches!(&response, Err(Error::Refused(refusal)) if refusal.code == "identity-used");
    if is_used && variable(VARIABLE).is_none() {
        response = exchange()?;
    }
    let response =
        response.map_err(|error| format!("the identity token of this job got no token: {error}"))?;
    let token = response.document["token"].as_str();
    token.map(str::to_owned).ok_or_else(|| {
        format!(
            "{}: expected a token, got none; is this a register?",
            client.address()
        )
    })
}

fn identity_token(settings: &Settings, audience: &str) -> Result<String, String> {
    if let Some(token) = variable(VARIABLE) {
        return Ok(token);
    }
    match (variable(GITHUB_ADDRESS), variable(GITHUB_SECRET)) {
        (Some(address), Some(secret)) => requested_token(settings, &address, secret, audience),
        _ => Err(format!(
            "no identity token: set {VARIABLE}; a job of GitHub Actions needs the permission id-token: write"
        )),
    }
}

/// Requests the identity token from the service. The address of a register has no character that a query must encode.
fn requested_token(
    settings: &Settings,
    address: &str,
    secret: String,
    audience: &str,
) -> Result<String, String> {
    let (origin, path) =
        split(address).ok_or_else(|| format!("{GITHUB_ADDRESS}: expected an address, got {address}"))?;
    let service = Settings {
        address: origin.to_owned(),
        token: secret,
        ca_file: None,
        ..settings.clone()
    };
    let service = Client::new(&service).map_err(|error| format!("{GITHUB_ADDRESS}: {error}"))?;
    let joint = if path.contains('?') { '&' } else { '?' };
    let response = service.get(&format!("{path}{joint}audience={audience}"));
    let response = response.map_err(|error| format!("the CI service gave no identity token: {error}"))?;
    let token = response.document["value"].as_str();
    token
        .map(str::to_owned)
        .ok_or_else(|| format!("{origin}: expected an identity token as value, got none"))
}

/// Returns the scheme and host of an address, and its path with the query.
fn split(address: &str) -> Option<(&str, &str)> {
    let host = address.find("://")? + 3;
    let path = host + address[host..].find('/')?;
    Some(address.split_at(path))
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_an_origin_and_a_path() {
        let address = "https://ci.example:8443/token?job=1";
        assert_eq!(split(address), Some(("https://ci.example:8443", "/token?job=1")));
        assert_eq!(split("https://ci.example"), None);
        assert_eq!(split("ci.example/token"), None);
    }
}
