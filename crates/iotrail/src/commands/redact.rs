//! `iotrail redact`: a copy of a trail that can be shared.

use crate::commands::structured::no_structure_name;
use crate::{logs, output, ui::Ui, usage};
use anyhow::{Context, bail};
use iotrail_model::units;
use iotrail_redact::{Key, RedactOptions, Redacted, Rules, Words, redact};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The largest secret that is read.
const LARGEST_SECRET: u64 = 1 << 16;

/// Make a copy of a trail without names, to share.
///
/// Paths, arguments, hosts and values of variables are replaced; every figure stays the same.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without --rules every name is replaced by a hash with a secret key that is drawn for this run and forgotten. Directories stay directories. Only words of built-in lists stay: endings (.fits), names of programs, libraries, system directories, options and variables, and numbers of up to three digits as whole arguments (docs/redact.md). The same name gets the same hash in every table, so every analysis of the copy gives the same figures. With --rules only the rules replace, unless --hash is given too:
then what they leave is hashed. Flags, errors, sizes, times, inode and process numbers stay as they are.

Examples:
  iotrail redact run.trail -o shared.trail
  iotrail redact run.trail -o shared.trail --keep '/scratch/public/**' --keep-digits
  iotrail redact run.trail -o shared.trail --rules site.toml
  iotrail redact a.trail -o a2.trail --key-file key    # the same names in several copies

Rules (TOML): keep = [\"/public/**\"] and [[path]], [[argument]], [[host]], each with match and replace (docs/redact.md).")]
pub(crate) struct Args {
    /// Trails or structures, read as one log.
    #[arg(required = true, value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    /// The copy to write.
    #[arg(short, long, value_name = "TRAIL")]
    output: PathBuf,

    /// A TOML file of replacements.
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,

    /// Hash what the rules leave. Always done without --rules.
    #[arg(long)]
    hash: bool,

    /// Paths that stay as they are, by glob.
    #[arg(long, value_name = "GLOB")]
    keep: Vec<String>,

    /// Keep the numbers in names, beside the hash: `part_0001` stays recognisable as number 0001. With --rules it needs --hash.
    #[arg(long)]
    keep_digits: bool,

    /// A secret key for the hashes, at least 16 bytes; `-` for stdin. With --rules it needs --hash. Anyone who has it can test guessed names against the hashes.
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,

    /// Replace the trail if it exists.
    #[arg(long)]
    force: bool,

    /// Print what was done as JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let rules = args.rules.as_deref().map(Rules::load).transpose()?.unwrap_or_default().keep(&args.keep)?;
    let hashes = args.hash || args.rules.is_none();
    let of_hashes = [("--key-file", args.key_file.is_some()), ("--keep-digits", args.keep_digits)];
    if let Some((option, _)) = of_hashes.iter().find(|(_, is_given)| *is_given && !hashes) {
        return Err(usage::wrong(format!(
            "{option} is about hashes, and with --rules only the rules replace: add --hash"
        )));
    }
    let key = if hashes { Some(key(args.key_file.as_deref())?) } else { None };
    let words = Words::new(rules, key).keep_digits(args.keep_digits);
    let output = args.output.canonicalize().ok();
    let same = |trail: &&PathBuf| output.is_some() && trail.canonicalize().ok() == output;
    if let Some(trail) = args.trails.iter().find(same) {
        bail!("{}: a copy cannot replace its original; write it to another name", trail.display());
    }
    no_structure_name(&args.output)?;
    let log = logs::open(&args.trails, ui)?;
    let options = RedactOptions { words, overwrite: args.force };
    let bar = ui.event_bar("redacting");
    let total = log.rows();
    let redacted = redact(&log, &args.output, &options, |done| bar.show(done, total))?;
    bar.clear();
    info(&redacted, args, ui);
    if args.json {
        output::json(&redacted)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn key(file: Option<&Path>) -> anyhow::Result<Key> {
    let Some(file) = file else { return Ok(Key::random()?) };
    let mut secret = Vec::new();
    let reading = || format!("cannot read {}", file.display());
    let source: Box<dyn std::io::Read> = if file == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        Box::new(std::fs::File::open(file).with_context(reading)?)
    };
    std::io::Read::read_to_end(&mut std::io::Read::take(source, LARGEST_SECRET), &mut secret)
        .with_context(reading)?;
    Ok(Key::of(&secret)?)
}

fn info(redacted: &Redacted, args: &Args, ui: &Ui) {
    ui.info(&format!(
        "{}: {}, {} of {} renamed",
        args.output.display(),
        units::counted(redacted.events, "event", "events"),
        units::count(redacted.renamed),
        units::counted(redacted.paths, "path", "paths")
    ));
    if redacted.joined > 0 {
        ui.warn(&format!(
            "{} the same as another",
            units::counted(redacted.joined, "path became", "paths became")
        ));
    }
}
