//! Mounts that a trace shows being made: where names lead to another tree, for each mount namespace.
//!
//! What is mounted on a directory hides what lies below it until it is unmounted. A bind mount shows a directory once more, so
//! that names below both are names of the same files, but not what is mounted below it, unless it is asked to. So a place is a
//! name and the mount in which it is seen. A namespace starts out with the mounts of the one that it was made from;
//! that mounts of one are passed on to another (`MS_SHARED`) is not followed.

use crate::node::Node;

/// Namespaces and mounts of one of them that are remembered.
const MOST: usize = 1 << 12;

/// A mount namespace in [`Mounts`]. The first is that in which the trace began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MountSpace(u32);

/// A mount. The first is what was mounted before the trace began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MountId(u32);

#[derive(Clone, Copy, Debug)]
struct Mount {
    id: MountId,
    /// The mount in which it lies.
    on: MountId,
    /// What is hidden by it there.
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
    made: u32,
}

impl Default for Mounts {
    fn default() -> Self {
        Self { spaces: vec![Vec::new()], current: MountSpace::default(), is_empty: true, made: 0 }
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

    /// What is seen where `node` lies in the mount `on`, and the mount that shows it.
    pub(crate) fn seen_at(&self, on: MountId, node: Node) -> (MountId, Node) {
        let mut seen = (on, node);
        // What is mounted later lies above.
        for later in self.here() {
            if (later.on, later.point) == seen {
                seen = (later.id, later.root);
            }
        }
        seen
    }

    /// Shows `root` where `point` lies in the mount `on`; `None` if there is no room for one more.
    pub(crate) fn add(&mut self, (on, point): (MountId, Node), root: Node) -> Option<MountId> {
        let mounts = self.spaces.get_mut(self.current.0 as usize).filter(|mounts| mounts.len() < MOST)?;
        self.made += 1;
        let id = MountId(self.made);
        mounts.push(Mount { id, on, point, root });
        self.is_empty = false;
        Some(id)
    }

    /// Mounts once more what lies in the mount `from`, at a place that `is_below`, now in the mount `to`, and what lies in that;
    /// whether there is room.
    pub(crate) fn copy_below(&mut self, from: MountId, to: MountId, is_below: impl Fn(Node) -> bool) -> bool {
        let mut copies = vec![(from, to)];
        for mount in self.here().to_vec() {
            let Some((_, on)) = copies.iter().find(|(old, _)| *old == mount.on).copied() else { continue };
            if mount.id == to || mount.on == from && !is_below(mount.point) {
                continue;
            }
            match self.add((on, mount.point), mount.root) {
                Some(copy) => copies.push((mount.id, copy)),
                None => return false,
            }
        }
        true
    }

    /// The mount of which this is the root.
    fn place_of(&self, (mount, root): (MountId, Node)) -> Option<usize> {
        self.here().iter().position(|known| (known.id, known.root) == (mount, root))
    }

    /// Takes away the mount that shows this root; whether it was known.
    pub(crate) fn remove(&mut self, shown: (MountId, Node)) -> bool {
        let place = self.place_of(shown);
        let mounts = self.spaces.get_mut(self.current.0 as usize);
        place.zip(mounts).map(|(place, mounts)| mounts.remove(place)).is_some()
    }

    /// The mount that shows this root comes to be the root of all, whose root was `root` in the mount `old`, which moves to
    /// `put`; whether it was known.
    pub(crate) fn pivot(
        &mut self,
        shown: (MountId, Node),
        (old, root): (MountId, Node),
        (on, point): (MountId, Node),
    ) -> bool {
        let place = self.place_of(shown).filter(|_| shown != (on, point) && old == MountId::default());
        let Some((place, mounts)) = place.zip(self.spaces.get_mut(self.current.0 as usize)) else {
            return false;
        };
        let mount = mounts.remove(place);
        // What is seen there is that mount, not what is mounted upon it now.
        mounts.insert(0, Mount { id: old, on, point, root });
        mounts.insert(0, Mount { on: old, point: root, ..mount });
        true
    }

    /// Moves the mount that shows this root, with what lies in it; whether it was known.
    pub(crate) fn shift(&mut self, shown: (MountId, Node), (on, point): (MountId, Node)) -> bool {
        let place = self.place_of(shown);
        let Some((place, mounts)) = place.zip(self.spaces.get_mut(self.current.0 as usize)) else {
            return false;
        };
        let mount = mounts.remove(place);
        mounts.push(Mount { on, point, ..mount });
        true
    }
}
