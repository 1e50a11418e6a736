//! The joined graph with its positions: found once, however much of what is behind it the page holds.

use super::join::{Group, Joined, join};
use super::positions::positions;
use super::{CriticalPath, FlowGroup, FlowLink};
use crate::name_table::NameTable;
use iotrail_draw::DrawError;
use iotrail_workflow::graph::Graph;

/// The joined graph and where everything is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overview {
    joined: Joined,
    boxes: Vec<[i32; 4]>,
    routes: Vec<Vec<i32>>,
}

impl Overview {
    /// At most about `groups` joined vertices, with routes for the `routed` most important edges.
    pub(crate) fn new(
        graph: &Graph,
        critical: &CriticalPath,
        (groups, routed): (usize, usize),
    ) -> Result<Self, DrawError> {
        let joined = join(graph, &critical.vertices, &critical.edges, groups);
        let (boxes, routes) = positions(&joined, routed)?;
        Ok(Self { joined, boxes, routes })
    }

    /// The joined vertex of a vertex, and whether it is on the critical path.
    pub(super) fn of(&self, vertex: usize) -> (u32, bool) {
        (self.joined.of[vertex], self.joined.critical[vertex])
    }

    pub(super) fn groups(&self, names: &mut NameTable) -> Vec<FlowGroup> {
        let group = |(group, place): (&Group, &[i32; 4])| FlowGroup {
            n: names.id(&group.label),
            w: names.id(&group.name),
            f: group.is_file,
            g: group.phase.map_or(-1, |phase| phase as i32),
            m: group.members,
            d: group.distinct,
            t: group.time,
            r: group.read,
            wr: group.written,
            c: group.critical,
            place: *place,
        };
        self.joined.groups.iter().zip(&self.boxes).map(group).collect()
    }

    pub(super) fn links(&self) -> Vec<FlowLink> {
        let both = self.joined.links.iter().zip(&self.routes);
        both.map(|(link, route)| FlowLink { edge: link.edge, members: link.members, route: route.clone() })
            .collect()
    }
}
