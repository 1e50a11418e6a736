//! Which layers: a call of a library makes calls of the layer below, so that both together count each byte twice.
//!
//! Of a log with several layers, the lowest is selected if nothing else is asked for: what reached the system.

use crate::error::QueryError;
use crate::patterns::listed;
use crate::warning::Warning;
use iotrail_model::{EventBatch, Layer};
use iotrail_trail::Columns;

/// The layers that were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layers {
    /// None: the lowest one.
    named: Option<Vec<Layer>>,
}

/// The layers that the words of `--layer` name.
///
/// # Errors
/// For the first word that names none.
pub fn named_layers(words: &[String]) -> Result<Vec<Layer>, QueryError> {
    let mut named = Vec::new();
    for word in listed(words) {
        match (word, Layer::from_name(word)) {
            ("all", _) => named.extend(Layer::ALL),
            (_, Some(layer)) => named.push(layer),
            (_, None) => {
                let allowed =
                    "write syscall, posix, libc, mpiio, mpi, several of them separated by commas, or all";
                return Err(QueryError::word("layer", word, "not a layer", allowed));
            }
        }
    }
    Ok(named)
}

impl Layers {
    /// The layers that the words of `--layer` name; without words the lowest one.
    ///
    /// # Errors
    /// For the first word that names none.
    pub(crate) fn parse(words: &[String]) -> Result<Self, QueryError> {
        let named = if words.is_empty() { None } else { Some(named_layers(words)?) };
        Ok(Self { named })
    }

    /// Those that are selected of a log that has the layers `there`, the lowest first.
    pub(crate) fn of(&self, there: &[Layer]) -> Vec<Layer> {
        match &self.named {
            None => there.first().copied().into_iter().collect(),
            Some(named) => there.iter().filter(|layer| named.contains(layer)).copied().collect(),
        }
    }

    /// By number of a layer whether it is selected; `None` if all calls of the log are.
    pub(crate) fn bits(&self, there: &[Layer]) -> Option<[bool; Layer::ALL.len()]> {
        let selected = self.of(there);
        (selected.len() < there.len()).then(|| Layer::ALL.map(|layer| selected.contains(&layer)))
    }

    /// What is selected of a log with several layers, in words.
    pub(crate) fn describe(&self, there: &[Layer]) -> Option<String> {
        let selected = self.of(there);
        (there.len() > 1).then(|| format!("layer {} (of {})", names(&selected), names(there)))
    }

    /// What is probably not meant.
    pub(crate) fn warning(&self, there: &[Layer]) -> Option<Warning> {
        let selected = self.of(there);
        match (&self.named, selected.len()) {
            (None, _) if there.len() > 1 => {
                Some(Warning::OneLayerOfSeveral { there: names(there), counted: names(&selected) })
            }
            (Some(named), 0) if !there.is_empty() => {
                Some(Warning::NoSuchLayer { named: names(named), there: names(there) })
            }
            (Some(_), 2..) => Some(Warning::SeveralLayers { counted: names(&selected) }),
            _ => None,
        }
    }
}

/// Which calls of a log tell what happened, each once, whatever else is selected: those of the selected layers, and those of lower ones
/// that were made in no call of another layer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OneLayer {
    /// The selected layers; empty if the log has no more than one.
    selected: Vec<Layer>,
}

impl OneLayer {
    pub(crate) fn new(selected: &[Layer], there: &[Layer]) -> Self {
        Self { selected: if there.len() > 1 { selected.to_vec() } else { Vec::new() } }
    }

    /// The columns that it looks at.
    #[must_use]
    pub fn columns(&self) -> Columns {
        if self.selected.is_empty() { Columns::NONE } else { Columns::LAYER | Columns::PARENT }
    }

    /// Whether the call in a row counts.
    #[inline]
    #[must_use]
    pub fn has(&self, batch: &EventBatch, row: usize) -> bool {
        let Some(highest) = self.selected.last() else { return true };
        let layer = batch.layer[row];
        self.selected.contains(&layer) || layer < *highest && batch.parent[row].is_null()
    }
}

fn names(layers: &[Layer]) -> String {
    layers.iter().map(|layer| layer.name()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::Event;

    fn layers(words: &[&str]) -> Layers {
        Layers::parse(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn each_byte_counts_once_whichever_layer_is_selected() {
        let of = |selected: &[Layer]| OneLayer::new(selected, &[Layer::Syscall, Layer::Mpiio]);
        let mut batch = EventBatch::default();
        for (layer, parent) in [(Layer::Mpiio, None), (Layer::Syscall, Some(0)), (Layer::Syscall, None)] {
            batch.push(&Event { layer, parent: parent.into(), ..Event::default() });
        }
        let counted = |layers: &OneLayer| (0..3).map(|row| layers.has(&batch, row)).collect::<Vec<_>>();
        assert_eq!(counted(&of(&[Layer::Syscall])), [false, true, true]);
        assert_eq!(counted(&of(&[Layer::Mpiio])), [true, false, true]);
        assert_eq!(counted(&OneLayer::new(&[Layer::Syscall], &[Layer::Syscall])), [true, true, true]);
    }

    #[test]
    fn the_lowest_layer_is_selected_unless_others_are_named() {
        let there = [Layer::Syscall, Layer::Mpiio];
        assert_eq!(layers(&[]).of(&there), [Layer::Syscall]);
        assert_eq!(layers(&[]).of(&[Layer::Mpiio]), [Layer::Mpiio]);
        assert_eq!(layers(&["mpiio"]).of(&there), [Layer::Mpiio]);
        assert_eq!(layers(&["mpiio,syscall"]).of(&there), there);
        assert_eq!(layers(&["all"]).of(&there), there);
        assert_eq!(layers(&["libc"]).of(&there), []);
        assert!(Layers::parse(&["stdio".to_owned()]).is_err());
    }

    #[test]
    fn a_log_of_one_layer_needs_no_column_and_no_word() {
        for words in [&[][..], &["syscall"], &["all"]] {
            let layers = layers(words);
            assert_eq!(layers.bits(&[Layer::Syscall]), None);
            assert_eq!((layers.describe(&[Layer::Syscall]), layers.warning(&[Layer::Syscall])), (None, None));
        }
        assert_eq!(layers(&["mpi"]).bits(&[Layer::Syscall]), Some([false; 5]));
    }
}
