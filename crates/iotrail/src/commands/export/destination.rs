//! The server to which points go, and the Grafana that shows them.

use crate::usage::wrong;
use anyhow::Context;
use iotrail_influx::{Server, Target};
use std::path::{Path, PathBuf};

/// Where points go.
#[derive(Debug, clap::Args)]
pub(super) struct Destination {
    /// Address of the server.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8086")]
    pub(super) url: String,

    /// Database of InfluxDB 1.x.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["org", "bucket"])]
    db: Option<String>,

    /// Organisation of InfluxDB 2.x or 3.x.
    #[arg(long, value_name = "NAME", requires = "bucket")]
    org: Option<String>,

    /// Bucket of InfluxDB 2.x or 3.x, or of a server that speaks their write interface.
    #[arg(long, value_name = "NAME")]
    bucket: Option<String>,

    /// File with the token of a bucket, or `USER:PASSWORD` of a database.
    #[arg(long, value_name = "FILE")]
    pub(super) token_file: Option<PathBuf>,

    /// Address of Grafana, for the link to the dashboards.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:3000")]
    pub(super) grafana: String,
}

impl Destination {
    /// The database or bucket, if one is named.
    pub(super) fn name(&self) -> Option<&str> {
        self.db.as_deref().or(self.bucket.as_deref())
    }

    /// Whether it is a bucket.
    pub(super) const fn is_bucket(&self) -> bool {
        self.bucket.is_some()
    }

    /// The server.
    pub(super) fn server(&self) -> anyhow::Result<Server> {
        let name = self
            .name()
            .ok_or_else(|| wrong("say where to: --db NAME, --org NAME --bucket NAME, or -o FILE"))?;
        let name = name.to_owned();
        let target = if self.is_bucket() {
            Target::Bucket { org: self.org.clone().unwrap_or_default(), bucket: name }
        } else {
            Target::Database(name)
        };
        let secret = self.token_file.as_deref().map(secret).transpose()?;
        Server::new(&self.url, target, secret).map_err(|error| wrong(error.to_string()))
    }
}

/// The first line of a file.
fn secret(file: &Path) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let line = text.lines().next().unwrap_or_default().trim();
    let fits = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    anyhow::ensure!(fits, "{}: expected a token in its first line", file.display());
    Ok(line.to_owned())
}
