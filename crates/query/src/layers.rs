//! Which layers: a call of a library makes calls of the layer below, so that both together count each byte twice.
//!
//! Of a log with several layers, the lowest is selected if nothing else is asked for: what reached the system.

use crate::error::QueryError;
use crate::patterns::listed;
use crate::warning::Warning;
use iotrail_model::Layer;

/// The layers that were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layers {
    /// None: the lowest one.
    named: Option<Vec<Layer>>,
}

impl Layers {
    /// The layers that the words of `--layer` name.
    ///
    /// # Errors
    /// For the first word that names none.
    pub(crate) fn parse(words: &[String]) -> Result<Self, QueryError> {
        if words.is_empty() {
            return Ok(Self::default());
        }
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
        Ok(Self { named: Some(named) })
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

fn names(layers: &[Layer]) -> String {
    layers.iter().map(|layer| layer.name()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(words: &[&str]) -> Layers {
        Layers::parse(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>()).unwrap()
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
