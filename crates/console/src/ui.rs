//! Talk: everything that goes to stderr.

use crate::hints;
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use iotrail_model::text::printable;
use iotrail_terminal::{Hints, Style};
use std::io::{IsTerminal, Write, stderr, stdout};
use std::sync::OnceLock;

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Colour {
    fn applies(self, terminal: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        }
    }
}

/// A bar that counts events.
pub struct EventBar<'a> {
    ui: &'a Ui,
    what: &'static str,
    bar: OnceLock<ProgressBar>,
}

impl EventBar<'_> {
    /// So many of so many are done.
    pub fn show(&self, done: u64, total: u64) {
        let template = "{msg} {wide_bar} {human_pos}/{human_len} events {eta}";
        let bar = self.bar.get_or_init(|| self.ui.bar(Some(total), self.what, template));
        bar.set_position(done);
    }

    /// Of a stage of the work, so many of so many are done.
    pub fn show_stage(&self, stage: &'static str, done: u64, total: u64) {
        self.show(done, total);
        if let Some(bar) = self.bar.get().filter(|bar| bar.message() != stage) {
            bar.set_message(stage);
            bar.reset_elapsed();
            bar.reset_eta();
        }
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

/// Whether terminals of this kind understand colours.
fn has_colours() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// The way to the person at the terminal.
#[derive(Clone, Copy, Debug)]
pub struct Ui {
    colour: Colour,
    quiet: bool,
}

impl Ui {
    /// Colours as asked for; `quiet` leaves nothing but errors.
    pub const fn new(colour: Colour, quiet: bool) -> Self {
        Self { colour, quiet }
    }

    /// The options by which another program of ours talks as this one does.
    #[must_use]
    pub fn as_options(&self) -> Vec<&'static str> {
        let colour = match self.colour {
            Colour::Auto => None,
            Colour::Always => Some("--color=always"),
            Colour::Never => Some("--color=never"),
        };
        colour.into_iter().chain(self.quiet.then_some("--quiet")).collect()
    }

    /// Whether what goes to stdout may be coloured.
    fn colours_stdout(&self) -> bool {
        self.colour.applies(stdout().is_terminal() && has_colours())
    }

    /// Columns of the terminal on stdout, enough for any table if it is none.
    fn width() -> usize {
        let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
        columns
            .or_else(|| terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)))
            .unwrap_or(140)
            .clamp(40, 400)
    }

    /// How tables on stdout look.
    pub fn style(&self) -> Style {
        Style { colour: self.colours_stdout(), width: Self::width(), hints: Hints::new(hints::words) }
    }

    /// Whether lines for the reader are shown.
    #[must_use]
    pub fn talks(&self) -> bool {
        !self.quiet
    }

    /// One line for the reader.
    pub fn info(&self, text: &str) {
        if !self.quiet {
            self.line("", "", text);
        }
    }

    /// Which files were written.
    pub fn report_written(&self, paths: &[std::path::PathBuf]) {
        for path in paths {
            self.info(&format!("wrote {}", path.display()));
        }
    }

    /// Something is not as it should be, and the work goes on.
    pub fn warn(&self, text: &str) {
        if !self.quiet {
            self.line("33", "warning: ", text);
        }
    }

    /// The work failed: what, because of what, and what to do.
    pub fn error(&self, error: &anyhow::Error) {
        self.line("31", "error: ", &hints::of_error(error));
    }

    /// How to call a command, below the error that it was called wrongly.
    pub fn usage(&self, usage: &str) {
        self.line("", "", &format!("\n{usage}\n\nFor more information, try '--help'."));
    }

    /// A bar for long work of `total` bytes, drawn only on a terminal.
    pub fn byte_bar(&self, total: Option<u64>, what: &str) -> ProgressBar {
        let template = match total {
            Some(_) => "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
            None => "{msg} {spinner} {bytes} {bytes_per_sec}",
        };
        self.bar(total, what, template)
    }

    /// A bar for long work on events, drawn only on a terminal, once there is something to show.
    pub fn event_bar(&self, what: &'static str) -> EventBar<'_> {
        EventBar { ui: self, what, bar: OnceLock::new() }
    }

    fn bar(&self, total: Option<u64>, what: &str, template: &str) -> ProgressBar {
        if self.quiet || !stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new).with_message(what.to_owned());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar
    }

    fn line(&self, colour: &str, head: &str, text: &str) {
        let shown = text.split('\n').map(printable).collect::<Vec<_>>().join("\n");
        let line = if !head.is_empty() && self.colour.applies(stderr().is_terminal() && has_colours()) {
            format!("\x1b[1;{colour}m{head}\x1b[0m{shown}\n")
        } else {
            format!("{head}{shown}\n")
        };
        // There is nobody left to tell when stderr is closed.
        let _ = stderr().lock().write_all(line.as_bytes());
    }
}
