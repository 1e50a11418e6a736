//! Which vertices a word means: a key, a label, a path, a glob of paths, or an expression.

use crate::graph::{Graph, Vertex, VertexId};
use crate::ops::OpError;
use crate::ops::adjacency::vertices;
use crate::ops::expression::Expression;
use globset::GlobBuilder;
use iotrail_model::text::printable;

const ALLOWED: &str = "write a key (4711, /data/a.fits@1), a label (mAdd), a path or a glob of paths, or an expression (exe=mAdd)";
/// How many keys that come near are named.
const NEAR: usize = 5;

/// The vertices that `word` means, at least one.
///
/// # Errors
/// If there is none.
pub fn find(graph: &Graph, option: &'static str, word: &str) -> Result<Vec<VertexId>, OpError> {
    let tries: [&dyn Fn(&Vertex) -> bool; 4] = [
        &|vertex| &*vertex.key == word,
        &|vertex| &*vertex.label == word,
        &|vertex| has_path(vertex, |path| path == word),
        &|vertex| vertex.process().and_then(|process| process.exe.as_deref()) == Some(word),
    ];
    for fits in tries {
        let found: Vec<VertexId> = vertices(graph).filter(|vertex| fits(graph.vertex(*vertex))).collect();
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let found = if word.contains(['=', '~', '<', '>']) {
        Expression::parse(option, word)?.matches(graph)
    } else {
        by_glob(graph, word)
    };
    if found.is_empty() {
        return Err(OpError::word(
            option,
            word,
            format!("no vertex is meant by it{}", near(graph, word)),
            ALLOWED,
        ));
    }
    Ok(found)
}

fn has_path(vertex: &Vertex, fits: impl Fn(&str) -> bool) -> bool {
    vertex.file().is_some_and(|file| fits(&file.path) || file.names.iter().any(|name| fits(name)))
}

fn by_glob(graph: &Graph, word: &str) -> Vec<VertexId> {
    let Ok(glob) = GlobBuilder::new(word).literal_separator(word.contains('/')).build() else {
        return Vec::new();
    };
    let glob = glob.compile_matcher();
    let fits =
        |vertex: &Vertex| has_path(vertex, |path| glob.is_match(path)) || glob.is_match(&*vertex.label);
    vertices(graph).filter(|vertex| fits(graph.vertex(*vertex))).collect()
}

/// Keys that contain the last component of the word.
fn near(graph: &Graph, word: &str) -> String {
    let part = iotrail_query::preset::base(word).to_lowercase();
    let keys: Vec<String> = graph
        .vertices
        .iter()
        .filter(|vertex| !part.is_empty() && vertex.key.to_lowercase().contains(&part))
        .take(NEAR)
        .map(|vertex| format!("`{}`", printable(&vertex.key)))
        .collect();
    if keys.is_empty() { String::new() } else { format!("; near it are {}", keys.join(", ")) }
}
