//! A server on the loopback that answers as it is told, and remembers what it accepted.

use crate::server::{Server, Target};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What was sent.
#[derive(Default)]
struct Seen {
    accepted: Vec<u8>,
    compressed: Vec<bool>,
}

pub(crate) struct Fake {
    url: String,
    seen: Arc<Mutex<Seen>>,
}

impl Fake {
    /// Answers `STATUS WORD`, with further headers after line ends, and a body after a line feed; `hang up` is no answer. When
    /// all is said, everything is accepted.
    pub(crate) fn answering(answers: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Seen::default()));
        let mut answers = answers.iter().map(|answer| (*answer).to_owned()).collect::<Vec<_>>().into_iter();
        let theirs = Arc::clone(&seen);
        std::thread::spawn(move || {
            // As InfluxDB does: after an empty answer the connection stays, and nothing says that the answer is empty.
            let mut kept = Vec::new();
            for stream in listener.incoming() {
                let (stream, answer) =
                    (stream.unwrap(), answers.next().unwrap_or_else(|| "204 OK".to_owned()));
                serve(&stream, &answer, &theirs);
                kept.extend(answer.starts_with("204").then_some(stream));
            }
        });
        Self { url, seen }
    }

    pub(crate) fn server(&self) -> Server {
        Server::new(&self.url, Target::Database("d".to_owned()), None).unwrap()
    }

    /// The accepted lines.
    pub(crate) fn lines(&self) -> Vec<String> {
        let text = String::from_utf8(self.seen.lock().unwrap().accepted.clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// Whether each request was compressed.
    pub(crate) fn compressed(&self) -> Vec<bool> {
        self.seen.lock().unwrap().compressed.clone()
    }
}

fn serve(mut stream: &TcpStream, answer: &str, seen: &Mutex<Seen>) {
    let mut reader = BufReader::new(stream);
    let (mut length, mut gzip) = (0, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim().to_ascii_lowercase();
        gzip |= line == "content-encoding: gzip";
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let mut seen = seen.lock().unwrap();
    seen.compressed.push(gzip);
    if answer == "hang up" {
        return;
    }
    if answer.starts_with('2') {
        let mut plain = Vec::new();
        if gzip {
            flate2::read::GzDecoder::new(&body[..]).read_to_end(&mut plain).unwrap();
        }
        seen.accepted.extend_from_slice(if gzip { &plain } else { &body });
    }
    drop(seen);
    let (head, body) =
        answer.split_once("\n{").map_or((answer, String::new()), |(head, body)| (head, format!("{{{body}")));
    let length =
        if head.starts_with("204") { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    let _ = write!(stream, "HTTP/1.1 {head}\r\n{length}\r\n{body}");
}
