//! Lines in, requests out: one batch at a time.

use crate::batch::Batch;
use crate::error::UploadError;
use crate::reply::{Verdict, message};
use crate::retry::Backoff;
use crate::server::Server;
use serde::Serialize;
use std::time::Duration;

/// How points are sent.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Most points of a request.
    pub batch_points: u64,
    /// Most bytes of a request, before compression; a single line may be longer.
    pub batch_bytes: usize,
    /// How long to try to send a batch.
    pub patience: Duration,
    /// Points at the begin that the server has.
    pub skip: u64,
}

impl Options {
    /// Points of a request, unless asked otherwise: what InfluxData recommends.
    pub const BATCH: u64 = 5000;
}

impl Default for Options {
    fn default() -> Self {
        Self { batch_points: Self::BATCH, batch_bytes: 4 << 20, patience: Duration::from_secs(120), skip: 0 }
    }
}

/// Why an upload waits.
#[derive(Debug)]
pub struct Waiting<'a> {
    /// What the server said, or why it could not be reached.
    pub why: &'a str,
    /// How long.
    pub wait: Duration,
}

/// What became of the points.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sent {
    /// Points, sent or skipped.
    pub points: u64,
    /// Of them those that were skipped because the server had them.
    pub skipped: u64,
    /// Of them those that the server accepted.
    pub accepted: u64,
    /// Of them those that the server says it dropped.
    pub dropped: u64,
    /// Batches that the server accepted in part.
    pub partial: u64,
    /// What it said about the first of these.
    pub first_refusal: Option<String>,
    /// Requests, those that failed too.
    pub requests: u64,
    /// Requests that were sent again.
    pub retries: u64,
}

/// An upload.
pub struct Upload<'a> {
    server: &'a Server,
    options: Options,
    waiting: &'a dyn Fn(&Waiting<'_>),
    batch: Batch,
    gzip: bool,
    sent: Sent,
}

impl<'a> Upload<'a> {
    /// Nothing is sent yet. `waiting` is told of each wait before it begins.
    #[must_use]
    pub fn new(server: &'a Server, options: Options, waiting: &'a dyn Fn(&Waiting<'_>)) -> Self {
        Self { server, options, waiting, batch: Batch::default(), gzip: true, sent: Sent::default() }
    }

    /// Takes one line, without its end; returns when there is room for the next.
    ///
    /// # Errors
    /// If the server refuses a batch, or does not take it in time.
    pub fn push(&mut self, line: &str) -> Result<(), UploadError> {
        self.sent.points += 1;
        if self.sent.points <= self.options.skip {
            self.sent.skipped += 1;
            return Ok(());
        }
        if self.batch.len() + line.len() >= self.options.batch_bytes {
            self.flush()?;
        }
        self.batch.push(line);
        if self.batch.points() >= self.options.batch_points { self.flush() } else { Ok(()) }
    }

    /// Sends what is left.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn finish(mut self) -> Result<Sent, UploadError> {
        self.flush()?;
        Ok(self.sent)
    }

    fn flush(&mut self) -> Result<(), UploadError> {
        let batch = std::mem::take(&mut self.batch);
        if batch.points() == 0 { Ok(()) } else { self.send(&batch) }
    }

    /// Sends a batch until the server has it.
    fn send(&mut self, batch: &Batch) -> Result<(), UploadError> {
        let mut backoff = Backoff::new(self.options.patience);
        loop {
            self.sent.requests += 1;
            let reply = self.server.write(batch.body(self.gzip), self.gzip);
            let verdict = reply
                .as_ref()
                .map_or_else(|error| Verdict::Retry { message: error.clone(), after: None }, Verdict::of);
            let status = reply.as_ref().map_or(0, |reply| reply.status);
            match verdict {
                Verdict::Accepted => {
                    self.sent.accepted += batch.points();
                    return Ok(());
                }
                Verdict::Partial { dropped, message } => {
                    self.partial(batch.points(), dropped, message);
                    return Ok(());
                }
                Verdict::MaybeCompression if self.gzip && self.sent.accepted == 0 => self.gzip = false,
                Verdict::MaybeCompression => {
                    let said = reply.map(|reply| message(&reply.body)).unwrap_or_default();
                    return Err(self.refused(status, said));
                }
                Verdict::TooLarge => {
                    let Some(halves) = batch.halves() else {
                        return Err(self.refused(status, "a single point is too large".to_owned()));
                    };
                    self.sent.retries += 1;
                    return halves.iter().try_for_each(|half| self.send(half));
                }
                Verdict::Retry { message, after } => self.wait(&mut backoff, message, after)?,
                Verdict::Refused { message } => return Err(self.refused(status, message)),
            }
            self.sent.retries += 1;
        }
    }

    fn partial(&mut self, points: u64, dropped: u64, message: String) {
        self.sent.accepted += points.saturating_sub(dropped);
        self.sent.dropped += dropped;
        self.sent.partial += 1;
        self.sent.first_refusal.get_or_insert(message);
    }

    fn wait(
        &self,
        backoff: &mut Backoff,
        message: String,
        after: Option<Duration>,
    ) -> Result<(), UploadError> {
        let Some(wait) = backoff.next(after) else {
            return Err(UploadError::GaveUp {
                url: self.server.address().to_owned(),
                patience: self.options.patience,
                last: message,
                accepted: self.sent.accepted,
            });
        };
        (self.waiting)(&Waiting { why: &message, wait });
        std::thread::sleep(wait);
        Ok(())
    }

    fn refused(&self, status: u16, message: String) -> UploadError {
        let url = self.server.address().to_owned();
        UploadError::Refused { url, status, message, accepted: self.sent.accepted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    fn options(batch_points: u64) -> Options {
        Options { batch_points, ..Options::default() }
    }

    fn upload(fake: &Fake, lines: usize, options: Options) -> Result<Sent, UploadError> {
        let server = fake.server();
        let mut upload = Upload::new(&server, options, &|_| ());
        (0..lines).try_for_each(|line| upload.push(&format!("m v={line}i {line}")))?;
        upload.finish()
    }

    fn lines(count: usize) -> Vec<String> {
        (0..count).map(|line| format!("m v={line}i {line}")).collect()
    }

    #[test]
    fn points_come_in_order_and_in_batches() {
        let fake = Fake::answering(&[]);
        let sent = upload(&fake, 7, options(3)).unwrap();
        assert_eq!((sent.points, sent.accepted, sent.requests), (7, 7, 3));
        assert_eq!(fake.lines(), lines(7));
    }

    #[test]
    fn batches_have_few_bytes_too() {
        let fake = Fake::answering(&[]);
        let sent = upload(&fake, 7, Options { batch_bytes: 20, ..Options::default() }).unwrap();
        assert_eq!((sent.accepted, sent.requests), (7, 4));
    }

    #[test]
    fn a_busy_server_is_asked_again_and_nothing_is_lost() {
        for status in ["429 Busy", "503 Down", "500 Oops", "408 Late"] {
            let fake = Fake::answering(&[status, status]);
            let sent = upload(&fake, 5, options(2)).unwrap();
            assert_eq!((sent.accepted, sent.retries), (5, 2), "{status}");
            assert_eq!(fake.lines(), lines(5));
        }
    }

    #[test]
    fn a_server_that_says_when_to_come_again_is_obeyed() {
        let fake = Fake::answering(&["429 Busy\r\nRetry-After: 1"]);
        let began = std::time::Instant::now();
        upload(&fake, 1, options(1)).unwrap();
        assert!(began.elapsed() >= Duration::from_secs(1));
    }

    #[test]
    fn a_lost_connection_is_made_again() {
        let fake = Fake::answering(&["hang up", "204 OK", "hang up"]);
        let sent = upload(&fake, 5, options(2)).unwrap();
        assert_eq!((sent.accepted, sent.retries), (5, 2));
        assert_eq!(fake.lines(), lines(5));
    }

    #[test]
    fn patience_ends() {
        let fake = Fake::answering(&["503 Down"; 20]);
        let error =
            upload(&fake, 5, Options { patience: Duration::from_millis(400), ..options(2) }).unwrap_err();
        assert!(matches!(error, UploadError::GaveUp { accepted: 0, .. }), "{error}");
        let nobody = Server::new("http://127.0.0.1:1", crate::Target::Database("d".into()), None).unwrap();
        let mut upload = Upload::new(&nobody, Options { patience: Duration::ZERO, ..options(1) }, &|_| ());
        assert!(upload.push("m v=1i 1").unwrap_err().to_string().contains("refused"));
    }

    #[test]
    fn a_server_that_does_not_take_compressed_bodies_gets_plain_ones() {
        for status in ["415 Unsupported", "400 Bad"] {
            let fake = Fake::answering(&[status]);
            let sent = upload(&fake, 5, options(2)).unwrap();
            assert_eq!(sent.accepted, 5);
            assert_eq!(fake.compressed(), [true, false, false, false]);
        }
    }

    #[test]
    fn a_body_that_is_too_large_is_divided() {
        let fake = Fake::answering(&["413 Large", "413 Large"]);
        let sent = upload(&fake, 8, options(8)).unwrap();
        assert_eq!(sent.accepted, 8);
        assert_eq!(fake.lines(), lines(8));
        let fake = Fake::answering(&["413 Large"]);
        assert_eq!(upload(&fake, 1, options(8)).unwrap_err().status(), Some(413));
    }

    #[test]
    fn dropped_points_are_counted_and_the_rest_is_sent() {
        let fake = Fake::answering(&["204 OK", "400 Bad\n{\"error\":\"partial write: too old dropped=2\"}"]);
        let sent = upload(&fake, 9, options(3)).unwrap();
        assert_eq!((sent.points, sent.accepted, sent.dropped, sent.partial), (9, 7, 2, 1));
        assert_eq!(sent.first_refusal.as_deref(), Some("partial write: too old dropped=2"));
    }

    #[test]
    fn a_refusal_tells_how_far_it_came() {
        let fake = Fake::answering(&["204 OK", "401 No\n{\"error\":\"authorization failed\"}"]);
        let error = upload(&fake, 9, options(3)).unwrap_err();
        assert_eq!((error.status(), error.accepted()), (Some(401), 3));
        assert!(error.to_string().contains("authorization failed"));
    }

    #[test]
    fn points_that_the_server_has_are_skipped() {
        let fake = Fake::answering(&[]);
        let sent = upload(&fake, 9, Options { skip: 4, ..options(3) }).unwrap();
        assert_eq!((sent.points, sent.skipped, sent.accepted), (9, 4, 5));
        assert_eq!(fake.lines(), lines(9)[4..]);
    }
}
