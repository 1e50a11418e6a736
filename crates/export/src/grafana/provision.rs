//! The files that Grafana reads at its start: where the data are, and where the dashboards.

use std::path::Path;

/// Name of the data source.
pub(crate) const SOURCE: &str = "iotrail";

/// Where the points are.
#[derive(Clone, Copy, Debug)]
pub struct Provision<'a> {
    /// Address of the server, as Grafana reaches it.
    pub url: &'a str,
    /// The database, or the bucket that is mapped to one.
    pub database: &'a str,
    /// How to get in.
    pub access: Access<'a>,
}

/// How Grafana gets into the server.
#[derive(Clone, Copy, Debug)]
pub enum Access<'a> {
    /// Without asking, or as the user whom somebody adds to the file.
    Open,
    /// With the token of a bucket, which Grafana reads from this file; its path is absolute.
    Token(&'a Path),
}

impl Provision<'_> {
    /// `provisioning/datasources/iotrail.yaml`.
    #[must_use]
    pub fn data_source(&self) -> String {
        let mut text = format!(
            "apiVersion: 1\ndatasources:\n  - name: {SOURCE}\n    uid: {SOURCE}\n    type: influxdb\n    access: proxy\n    \
             url: {}\n    jsonData:\n      version: InfluxQL\n      dbName: {}\n      httpMode: POST\n",
            yaml(self.url),
            yaml(self.database)
        );
        if let Access::Token(file) = self.access {
            // Grafana reads the file; it must not be expanded in its name.
            let header = format!("Token $__file{{{}}}", file.to_string_lossy());
            text.push_str(
                "      httpHeaderName1: Authorization\n    secureJsonData:\n      httpHeaderValue1: ",
            );
            text.push_str(&json(&header));
            text.push('\n');
        }
        text
    }

    /// `provisioning/dashboards/iotrail.yaml`; `directory` is absolute.
    #[must_use]
    pub fn provider(directory: &Path) -> String {
        format!(
            "apiVersion: 1\nproviders:\n  - name: iotrail\n    type: file\n    folder: iotrail\n    \
             allowUiUpdates: true\n    options:\n      path: {}\n",
            yaml(&directory.to_string_lossy())
        )
    }
}

/// A text as YAML has it, in which Grafana expands nothing.
fn yaml(text: &str) -> String {
    json(&text.replace('$', "$$"))
}

/// YAML knows the texts of JSON.
fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_stays_in_its_file() {
        let access = Access::Token(Path::new("/etc/token"));
        let provision = Provision { url: "http://h:8086", database: "b\"$x", access };
        insta::assert_snapshot!(provision.data_source(), @r#"
        apiVersion: 1
        datasources:
          - name: iotrail
            uid: iotrail
            type: influxdb
            access: proxy
            url: "http://h:8086"
            jsonData:
              version: InfluxQL
              dbName: "b\"$$x"
              httpMode: POST
              httpHeaderName1: Authorization
            secureJsonData:
              httpHeaderValue1: "Token $__file{/etc/token}"
        "#);
    }

    #[test]
    fn the_provider_names_the_directory() {
        insta::assert_snapshot!(Provision::provider(Path::new("/srv/my dashboards")), @r#"
        apiVersion: 1
        providers:
          - name: iotrail
            type: file
            folder: iotrail
            allowUiUpdates: true
            options:
              path: "/srv/my dashboards"
        "#);
    }
}
