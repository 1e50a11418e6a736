//! Parts of items: names, open files, images.

use crate::text::Text;
use iotrail_model::FileFacts;
use iotrail_model::raw::{Image, OpenFile, RawItem, Target};
use iotrail_model::{Tid, Timestamp};
use serde::{Deserialize, Serialize};

/// What a descriptor refers to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredTarget {
    name: Text,
    #[serde(default, skip_serializing_if = "is_false")]
    deleted: bool,
}

pub(crate) fn is_false(flag: &bool) -> bool {
    !flag
}

impl From<Target<'_>> for StoredTarget {
    fn from(target: Target<'_>) -> Self {
        Self { name: target.name.into(), deleted: target.deleted }
    }
}

impl StoredTarget {
    pub(crate) fn show(&self) -> Target<'_> {
        Target { name: self.name.bytes(), deleted: self.deleted }
    }
}

/// An open file description of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredOpen {
    target: StoredTarget,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    position: Option<i64>,
    append: bool,
    cloexec: bool,
    followed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    facts: Option<FileFacts>,
}

impl From<&OpenFile<'_>> for StoredOpen {
    fn from(open: &OpenFile<'_>) -> Self {
        let OpenFile { target, position, append, cloexec, followed, facts } = *open;
        Self { target: target.into(), position, append, cloexec, followed, facts }
    }
}

impl StoredOpen {
    pub(crate) fn show(&self) -> OpenFile<'_> {
        let Self { ref target, position, append, cloexec, followed, facts } = *self;
        OpenFile { target: target.show(), position, append, cloexec, followed, facts }
    }
}

/// An executable image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredImage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exe: Option<Text>,
    /// Arguments separated by NUL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cmdline: Option<Text>,
    #[serde(default, skip_serializing_if = "is_false")]
    cmdline_cut: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<Text>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    env: Vec<Text>,
}

impl From<&Image<'_>> for StoredImage {
    fn from(image: &Image<'_>) -> Self {
        Self {
            exe: image.exe.map(Text::from),
            cmdline: image.cmdline.map(Text::from),
            cmdline_cut: image.cmdline_cut,
            cwd: image.cwd.map(Text::from),
            env: image.env.iter().map(|variable| Text::from(*variable)).collect(),
        }
    }
}

impl StoredImage {
    pub(crate) fn with<R>(&self, tid: Tid, at: Timestamp, show: impl FnOnce(&RawItem<'_>) -> R) -> R {
        let env: Vec<&[u8]> = self.env.iter().map(Text::bytes).collect();
        let image = Image {
            exe: self.exe.as_ref().map(Text::bytes),
            cmdline: self.cmdline.as_ref().map(Text::bytes),
            cmdline_cut: self.cmdline_cut,
            cwd: self.cwd.as_ref().map(Text::bytes),
            env: &env,
        };
        show(&RawItem::Image { tid, at, image })
    }
}
