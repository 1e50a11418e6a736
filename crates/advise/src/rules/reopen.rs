//! The same file is opened and closed again and again by one process. A file that is made anew is another one, whatever its name.

use super::Rule;
use super::habit::{Context, First, Image, ProcessHabit, Saved, Seen, Tally};
use super::per_image::PerImage;
use iotrail_model::FileId;
use iotrail_model::calls::CallKind;

/// From so many times on it is a habit.
const MANY: u64 = 10;

#[derive(Default)]
pub(crate) struct Reopen {
    files: PerImage<FileId, Uses>,
}

struct Uses {
    first: First,
    opens: u64,
    closes: u64,
    /// All opens but the first, and all closes but one.
    saved: Saved,
}

impl Rule for Reopen {
    fn see(&mut self, call: &Seen) {
        let Some(file) = call.file.filter(|_| call.is_done() && call.selected) else { return };
        let key = (call.process(), file);
        match call.kind {
            CallKind::Open | CallKind::Create => {
                let uses = self.files.entry(key).or_insert_with(|| Uses {
                    first: call.first(),
                    opens: 0,
                    closes: 0,
                    saved: Saved::default(),
                });
                uses.opens += 1;
                if uses.opens > 1 {
                    uses.saved.add(call);
                }
            }
            CallKind::Close => {
                if let Some(uses) = self.files.get_mut(&key) {
                    uses.closes += 1;
                    if uses.closes > 1 {
                        uses.saved.add(call);
                    }
                }
            }
            _ => {}
        }
    }

    fn ended(&mut self, image: Image) {
        self.files.keep_habits(image, |uses| uses.opens >= MANY);
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let many = self.files.values().filter(|uses| uses.opens >= MANY);
        let found = many.map(|uses| ProcessHabit {
            rule: "reopen",
            file: log.text(uses.first.path),
            tally: Tally {
                first: uses.first,
                calls: uses.opens + uses.closes,
                saved: uses.saved,
                amount: uses.opens,
            },
            places: Vec::new(),
            fix: "open it once and keep it open (shell: redirect the whole loop, `done >>file`, not each command; Python: one `with open(...)` around the loop; Fortran: `open` before the loop, `rewind` instead of `close`)",
            assumes: "nobody replaces the file, or needs it to be closed, in between",
        });
        found.collect()
    }
}
