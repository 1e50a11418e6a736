//! Which part of a graph is drawn, and what share of the whole is not.
//!
//! A graph of 76 activities and 1,300 transitions is a black square when all of it is drawn. The important part is: the
//! activities with the largest share of time or of events, the strongest way into and out of each of them, and then the
//! most frequent transitions. Whatever is left out is counted and said in the picture itself; in pictures of their own the
//! other activities become one ([`Picture::of`]).

use crate::links::{Links, Neighbours, Vertex};
use crate::project::projected;
use crate::view::View;
use iotrail_dfg::Dfg;
use iotrail_dfg::result::Node;
use iotrail_model::units;
use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};

/// The drawn part of a graph, by indices into [`Dfg::nodes`] and [`Dfg::edges`], ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// Drawn activities.
    pub nodes: Vec<usize>,
    /// Drawn transitions; both ends of each are drawn.
    pub edges: Vec<usize>,
    /// What the picture leaves out.
    pub hidden: Hidden,
}

/// What a picture does not show.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hidden {
    /// Activities.
    pub activities: usize,
    /// Number of events of the hidden activities.
    pub events: u64,
    /// Their events over all mapped events.
    pub event_share: f64,
    /// Their time over the time of all mapped events; NULL if no time is known.
    pub duration_share: Option<f64>,
    /// Transitions.
    pub transitions: usize,
    /// How often they were taken, over all transitions taken.
    pub transition_share: f64,
    /// Whether the activities are drawn as one.
    pub joined: bool,
}

impl Hidden {
    /// Whether the picture shows everything.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.activities == 0 && self.transitions == 0
    }

    /// `hidden: 41 activities (3.1 % of events, 0.4 % of time), 1,190 transitions (2.0 % of all taken)`, or nothing.
    #[must_use]
    pub fn statement(&self) -> Option<String> {
        let activities = (self.activities > 0).then(|| {
            let events = units::percent(self.event_share);
            let time = self.duration_share.map(|share| format!(", {} of time", units::percent(share)));
            format!(
                "{} ({events} of events{}){}",
                units::counted(self.activities as u64, "activity", "activities"),
                time.unwrap_or_default(),
                if self.joined { " drawn as one" } else { "" }
            )
        });
        let transitions = (self.transitions > 0).then(|| {
            let taken = units::percent(self.transition_share);
            format!(
                "{} ({taken} of all taken)",
                units::counted(self.transitions as u64, "transition", "transitions")
            )
        });
        let parts: Vec<String> = activities.into_iter().chain(transitions).collect();
        (!parts.is_empty()).then(|| format!("hidden: {}", parts.join(", ")))
    }
}

impl Picture {
    /// What is drawn of `dfg` in `view`, and the graph that it is a part of: where there are more activities than there is
    /// room for, a graph in which one stands for all that are left out.
    #[must_use]
    pub fn of<'a>(dfg: &'a Dfg, view: &View) -> (Cow<'a, Dfg>, Self) {
        let room = view.room(dfg);
        let drawn = projected(dfg, room);
        let mut picture = Self::within(&drawn, room, view.max_edges);
        if let (Cow::Owned(drawn), true) = (&drawn, dfg.nodes.len() > room) {
            let others = drawn.nodes.last();
            let (events, time) = others.map_or((0, None), |others| (others.count, others.duration_ns));
            picture.hidden.joined = true;
            picture.hidden.activities = dfg.nodes.len() + 1 - drawn.nodes.len();
            picture.hidden.events = events;
            picture.hidden.event_share = share(events, dfg.events.mapped);
            picture.hidden.duration_share = dfg.duration_ns.map(|all| share(time.unwrap_or(0), all));
        }
        (drawn, picture)
    }

    /// The part of `dfg` that `view` has room for.
    #[must_use]
    pub fn select(dfg: &Dfg, view: &View) -> Self {
        Self::within(dfg, view.room(dfg), view.max_edges)
    }

    fn within(dfg: &Dfg, most_nodes: usize, most_edges: usize) -> Self {
        let nodes = important_nodes(dfg, most_nodes);
        let edges = Links::of(dfg, &nodes).important(most_edges);
        let hidden = hidden(dfg, &nodes, &edges);
        Self { nodes: nodes.into_iter().collect(), edges: edges.into_iter().collect(), hidden }
    }

    /// All of `dfg`.
    #[must_use]
    pub fn whole(dfg: &Dfg) -> Self {
        Self {
            nodes: (0..dfg.nodes.len()).collect(),
            edges: (0..dfg.edges.len()).collect(),
            hidden: Hidden::default(),
        }
    }
}

/// Largest share of time or of events first: an activity that is slow is important, and so is one that is frequent.
/// Each comes with the activities that connect it to the start and to the end as long as there is room for them.
fn important_nodes(dfg: &Dfg, limit: usize) -> BTreeSet<usize> {
    if dfg.nodes.len() <= limit {
        return (0..dfg.nodes.len()).collect();
    }
    let order = by_importance(dfg);
    let count = dfg.nodes.len();
    let ends = Links::of(dfg, &(0..count).collect());
    let (before, after) =
        (ends.neighbours(count, |(from, to)| (to, from)), ends.neighbours(count, |ends| ends));
    let mut from_start = ShortestPaths::new(&before, &after, Vertex::Start.index(count));
    let mut to_end = ShortestPaths::new(&after, &before, Vertex::End.index(count));
    let mut chosen = BTreeSet::new();
    for &index in order.iter().take(limit.saturating_mul(CANDIDATES)) {
        let room = limit - chosen.len();
        let paths = from_start.way(index, room).zip(to_end.way(index, room));
        let on_way = paths.map(|(before, after)| [before, after].concat());
        let new: Option<BTreeSet<usize>> = on_way.map(|vertices| {
            let activities = vertices.into_iter().filter(|vertex| *vertex < count);
            activities.chain([index]).filter(|index| !chosen.contains(index)).collect()
        });
        if let Some(new) = new.filter(|new| new.len() <= room) {
            for vertex in &new {
                from_start.reach(*vertex);
                to_end.reach(*vertex);
            }
            chosen.extend(new);
        }
        if chosen.len() >= limit {
            break;
        }
    }
    // Where ways are long, what carries the time is drawn without them.
    for index in order {
        if chosen.len() >= limit {
            break;
        }
        chosen.insert(index);
    }
    chosen
}

/// The larger of each activity's shares of time and of events.
pub(crate) fn importance(dfg: &Dfg) -> Vec<f64> {
    let mapped = dfg.events.mapped.max(1) as f64;
    let share = |node: &Node| node.relative_duration.unwrap_or(0.0).max(node.count as f64 / mapped);
    dfg.nodes.iter().map(share).collect()
}

/// The activities with the largest share of time or of events first.
pub(crate) fn by_importance(dfg: &Dfg) -> Vec<usize> {
    let importance = importance(dfg);
    let mut order: Vec<usize> = (0..dfg.nodes.len()).collect();
    order.sort_by(|a, b| importance[*b].total_cmp(&importance[*a]).then(a.cmp(b)));
    order
}

/// How many times the limit of nodes are considered before the picture is called full.
const CANDIDATES: usize = 3;

/// Shortest ways to goals, of which there become more.
struct ShortestPaths<'a> {
    next: &'a Neighbours,
    before: &'a Neighbours,
    /// Of each vertex to the nearest goal.
    distance: Vec<usize>,
}

impl<'a> ShortestPaths<'a> {
    fn new(next: &'a Neighbours, before: &'a Neighbours, goal: usize) -> Self {
        let mut paths = Self { next, before, distance: vec![usize::MAX; next.len()] };
        paths.reach(goal);
        paths
    }

    /// One more goal: only what is nearer to it than to the others is looked at.
    fn reach(&mut self, goal: usize) {
        let mut queue = VecDeque::from([(goal, 0)]);
        while let Some((vertex, distance)) = queue.pop_front() {
            if distance < self.distance[vertex] {
                self.distance[vertex] = distance;
                queue.extend(self.before[vertex].iter().map(|before| (*before, distance + 1)));
            }
        }
    }

    /// What is between a vertex and the nearest goal, over the strongest edges that lead there; nothing is there if there is
    /// no way. `None` if it is more than there is room for: none of it is a goal, hence nothing of it is drawn yet.
    fn way(&self, from: usize, room: usize) -> Option<Vec<usize>> {
        let mut way = Vec::new();
        let mut left = self.distance[from];
        let mut here = from;
        if left == usize::MAX {
            return Some(way);
        }
        // The vertices at the ends are activities, ● or ■; those may lie between others, too.
        if left > room + 3 {
            return None;
        }
        while left > 1 {
            left -= 1;
            here = *self.next[here].iter().find(|next| self.distance[**next] == left)?;
            way.push(here);
        }
        Some(way)
    }
}

fn hidden(dfg: &Dfg, nodes: &BTreeSet<usize>, edges: &BTreeSet<usize>) -> Hidden {
    let left_out = |index: &usize| !nodes.contains(index);
    let hidden_nodes = || (0..dfg.nodes.len()).filter(left_out).map(|index| &dfg.nodes[index]);
    let events: u64 = hidden_nodes().map(|node| node.count).sum();
    let duration: u64 = hidden_nodes().filter_map(|node| node.duration_ns).sum();
    let taken: u64 = dfg.edges.iter().map(|edge| edge.count).sum();
    let shown: u64 = edges.iter().map(|index| dfg.edges[*index].count).sum();
    Hidden {
        activities: dfg.nodes.len() - nodes.len(),
        events,
        event_share: share(events, dfg.events.mapped),
        duration_share: dfg.duration_ns.map(|all| share(duration, all)),
        transitions: dfg.edges.len() - edges.len(),
        transition_share: share(taken - shown, taken),
        joined: false,
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
