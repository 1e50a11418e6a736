//! A server: its address, where in it points go, and who may write.

use crate::error::UploadError;
use crate::http::{self, Reply};
use iotrail_model::quote;

/// Where in a server points go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A database of InfluxDB 1.x.
    Database(String),
    /// A bucket of InfluxDB 2.x or 3.x, or of a server that speaks their write interface.
    Bucket {
        /// The organisation.
        org: String,
        /// The bucket.
        bucket: String,
    },
}

/// A server and what points are sent to.
#[derive(Clone)]
pub struct Server {
    base: String,
    target: Target,
    secret: Option<String>,
}

impl Server {
    /// The server at `url` (`http://HOST:PORT`, with a path if it is behind a proxy). `secret` is `USER:PASSWORD` for a database,
    /// a token for a bucket.
    ///
    /// # Errors
    /// If `url` is not an address that can be used.
    pub fn new(url: &str, target: Target, secret: Option<String>) -> Result<Self, UploadError> {
        let wrong = |why| Err(UploadError::Address { url: url.to_owned(), why });
        if url.starts_with("https://") {
            return wrong("https is not supported; write to stdout and send that with curl");
        }
        let Some(rest) = url.strip_prefix("http://") else { return wrong("an address begins with http://") };
        if rest.starts_with('/') || rest.is_empty() || rest.contains(['@', '?', '#']) {
            return wrong("expected http://HOST:PORT; a user or a token is read from a file");
        }
        if !url.bytes().all(|byte| byte.is_ascii_graphic()) {
            return wrong("an address has neither blanks nor characters beyond ASCII");
        }
        Ok(Self { base: url.trim_end_matches('/').to_owned(), target, secret })
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.base
    }

    /// Sends lines, compressed if `gzip`.
    pub(crate) fn write(&self, body: Vec<u8>, gzip: bool) -> Result<Reply, String> {
        let url = match &self.target {
            Target::Database(db) => {
                self.with_user(format!("{}/write?precision=ns&db={}", self.base, quote::url(db)))
            }
            Target::Bucket { org, bucket } => format!(
                "{}/api/v2/write?precision=ns&org={}&bucket={}",
                self.base,
                quote::url(org),
                quote::url(bucket)
            ),
        };
        let request =
            minreq::post(url).with_header("Content-Type", "text/plain; charset=utf-8").with_body(body);
        let request = if gzip { request.with_header("Content-Encoding", "gzip") } else { request };
        http::send(self.authorised(request))
    }

    /// Asks in InfluxQL. A bucket answers under its own name where it is mapped to a database.
    pub(crate) fn query(&self, question: &str) -> Result<Reply, String> {
        let (Target::Database(db) | Target::Bucket { bucket: db, .. }) = &self.target;
        let url = format!("{}/query?epoch=ns&db={}&q={}", self.base, quote::url(db), quote::url(question));
        http::send(self.authorised(minreq::get(self.with_user(url))))
    }

    fn authorised(&self, request: minreq::Request) -> minreq::Request {
        match (&self.target, &self.secret) {
            (Target::Bucket { .. }, Some(token)) => {
                request.with_header("Authorization", format!("Token {token}"))
            }
            _ => request,
        }
    }

    /// Users of databases are named in the address, as 1.x has it.
    fn with_user(&self, mut url: String) -> String {
        if let (Target::Database(_), Some(secret)) = (&self.target, &self.secret) {
            let (user, password) = secret.split_once(':').unwrap_or((secret, ""));
            url.push_str(&format!("&u={}&p={}", quote::url(user), quote::url(password)));
        }
        url
    }
}

/// Without the secret.
impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("base", &self.base)
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_http_without_a_user() {
        let server = |url| Server::new(url, Target::Database("d".into()), None);
        assert_eq!(server("http://127.0.0.1:8086/").unwrap().address(), "http://127.0.0.1:8086");
        for url in [
            "https://h",
            "h:8086",
            "http://",
            "http:///x",
            "http://u:p@h",
            "http://h?x",
            "http://h h",
            "http://ü",
        ] {
            assert!(server(url).is_err(), "{url}");
        }
        assert!(server("https://h").unwrap_err().to_string().contains("curl"));
    }

    #[test]
    fn a_secret_is_not_shown() {
        let server = Server::new("http://h", Target::Database("d".into()), Some("u:secret".into())).unwrap();
        assert!(!format!("{server:?}").contains("secret"));
    }
}
