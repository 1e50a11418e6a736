//! One request, one answer, both bounded.

use std::io::Read;
use std::time::Duration;

/// Longest wait for an answer.
const TIMEOUT_S: u64 = 60;
/// What is read of an answer.
const MAX_BODY: u64 = 1 << 20;
const MAX_HEADERS: usize = 1 << 16;
const NO_CONTENT: u16 = 204;

/// What a server answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) const fn is_success(&self) -> bool {
        self.status / 100 == 2
    }
}

/// Sends a request; an error is one of the connection.
pub(crate) fn send(request: minreq::Request) -> Result<Reply, String> {
    // A server that keeps the connection, and does not say that its answer is empty, would be waited for.
    let mut answer = request
        .with_header("Connection", "close")
        .with_timeout(TIMEOUT_S)
        .with_follow_redirects(false)
        .with_max_headers_size(MAX_HEADERS)
        .with_max_status_line_length(MAX_HEADERS)
        .send_lazy()
        .map_err(|error| error.to_string())?;
    let status = answer.status_code;
    let named = answer.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("retry-after"));
    let retry_after = named.and_then(|(_, value)| value.trim().parse().ok());
    let mut body = Vec::new();
    if status == NO_CONTENT {
        return Ok(Reply { status, ..Reply::default() });
    }
    let read = answer.by_ref().take(MAX_BODY).read_to_end(&mut body);
    if status / 100 == 2 {
        // Half an answer to a question is none.
        read.map_err(|error| error.to_string())?;
    }
    let body = String::from_utf8_lossy(&body).into_owned();
    Ok(Reply { status, retry_after: retry_after.map(Duration::from_secs), body })
}
