//! Mounts that a trace shows being made: where names lead to another tree, for each mount namespace.
//!
//! What is mounted on a directory hides what lies below it until it is unmounted. A bind mount shows a directory once more, so
//! that names below both are names of the same files. A namespace starts out with the mounts of the one that it was made from;
//! that mounts of one are passed on to another (`MS_SHARED`) is not followed.

use crate::namespace::Node;

/// Namespaces and mounts of one of them that are remembered.
const MOST: usize = 1 << 12;

/// A mount namespace in [`Mounts`]. The first is that in which the trace began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MountSpace(u32);

#[derive(Clone, Copy, Debug)]
struct Mount {
    /// What is hidden by it.
    point: Node,
    /// What is seen instead.
    root: Node,
}

/// The mounts of all namespaces.
#[derive(Debug)]
pub(crate) struct Mounts {
    spaces: Vec<Vec<Mount>>,
    current: MountSpace,
    is_empty: bool,
}

impl Default for Mounts {
    fn default() -> Self {
        Self { spaces: vec![Vec::new()], current: MountSpace::default(), is_empty: true }
    }
}

impl Mounts {
    /// Whether nothing was ever mounted.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Whether it matters in which namespace a thread is.
    #[inline]
    pub(crate) fn differ(&self) -> bool {
        !self.is_empty || self.spaces.len() > 1
    }

    /// Forgets all mounts.
    pub(crate) fn forget(&mut self) {
        self.spaces.iter_mut().for_each(Vec::clear);
        self.is_empty = true;
    }

    /// Names are those of this namespace from now on.
    #[inline]
    pub(crate) fn enter(&mut self, space: MountSpace) {
        self.current = space;
    }

    /// A namespace that is made from another one; `None` if there are too many.
    pub(crate) fn copy(&mut self, space: MountSpace) -> Option<MountSpace> {
        if self.spaces.len() >= MOST {
            return None;
        }
        let mounts = self.spaces.get(space.0 as usize).cloned().unwrap_or_default();
        self.spaces.push(mounts);
        Some(MountSpace(self.spaces.len() as u32 - 1))
    }

    fn here(&self) -> &[Mount] {
        self.spaces.get(self.current.0 as usize).map(Vec::as_slice).unwrap_or_default()
    }

    /// What is seen where `node` lies, and the mount that shows it.
    pub(crate) fn seen_at(&self, node: Node) -> (Node, Option<usize>) {
        let (mut node, mut mount) = (node, None);
        // What is mounted later lies above.
        for (number, later) in self.here().iter().enumerate() {
            if later.point == node {
                (node, mount) = (later.root, Some(number));
            }
        }
        (node, mount)
    }

    /// Shows `root` where `point` lies; whether there is room for one more.
    pub(crate) fn add(&mut self, point: Node, root: Node) -> bool {
        let Some(mounts) = self.spaces.get_mut(self.current.0 as usize).filter(|mounts| mounts.len() < MOST)
        else {
            return false;
        };
        mounts.push(Mount { point, root });
        self.is_empty = false;
        true
    }

    /// Takes a mount away; answers what it showed.
    pub(crate) fn remove(&mut self, number: usize) -> Option<Node> {
        let mounts = self.spaces.get_mut(self.current.0 as usize)?;
        (number < mounts.len()).then(|| mounts.remove(number).root)
    }

    /// Whether something is mounted on one of these names.
    pub(crate) fn any_on(&self, is_one: impl Fn(Node) -> bool) -> bool {
        self.here().iter().any(|mount| is_one(mount.point))
    }
}
