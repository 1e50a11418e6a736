//! The subgraph of a phase: its processes and the files that they accessed (Dun et al., section 5.3.2).

use crate::graph::Graph;
use crate::ops::OpError;
use crate::ops::subgraph::subgraph;
use iotrail_model::text::printable;

/// The processes of the phase of that name and the files that they accessed.
///
/// # Errors
/// If no phase has that name; the message lists them.
pub fn phase(graph: &Graph, name: &str) -> Result<Graph, OpError> {
    let Some(wanted) = graph.phases.iter().position(|phase| &**phase == name) else {
        let names: Vec<&str> = graph.phases.iter().map(|phase| &**phase).collect();
        let problem = "no phase has this name";
        return Err(OpError::word("phase", name, problem, format!("write one of {}", listed(&names))));
    };
    let mut kept: Vec<bool> = graph
        .vertices
        .iter()
        .map(|vertex| vertex.process().is_some() && vertex.phase == Some(wanted as u32))
        .collect();
    let processes = kept.clone();
    for edge in graph.edges.iter().filter(|edge| edge.relation.moves_data()) {
        kept[edge.from.index()] |= processes[edge.to.index()];
        kept[edge.to.index()] |= processes[edge.from.index()];
    }
    let sentence = format!("phase {}: its processes and the files that they accessed", printable(name));
    Ok(subgraph(graph, "of other phases", sentence, |vertex| kept[vertex.index()], |_| true))
}

/// The first of `names`, and how many there are.
fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 20;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| printable(name).into_owned()).collect();
    match names.len() {
        0 => "nothing: there are no phases".to_owned(),
        many if many > SHOWN => format!("{}, … ({many} in all)", shown.join(", ")),
        _ => shown.join(", "),
    }
}
