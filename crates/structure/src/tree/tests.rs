//! Trees against the definition, word by word, on flat lists of events.

use super::*;
use proptest::prelude::*;

mod oracle;

use oracle::Node;

/// Sequences of letters; capital ones are collectives of all ranks.
fn sequences(texts: &[&str]) -> Sequences {
    let members = |letter: u8| letter.is_ascii_uppercase().then_some(texts.len() as u32);
    let keys = (0..128).map(|letter| Key { members: members(letter) }).collect();
    let mut sequences = Sequences::new(keys);
    for text in texts {
        sequences.sequence(text.bytes().map(|letter| KeyId(letter.into()))).expect("keys");
    }
    sequences
}

fn nodes(tree: &Tree, body: &[ItemId], executions: u32) -> Vec<Node> {
    let node = |&id: &ItemId| {
        let Item { counts, what } = tree.item(id);
        let total = counts.total();
        let of_execution = |execution| counts.iter().find(|&(other, _)| other == execution);
        let count = |execution| of_execution(execution).map_or(0, |(_, count)| count as usize);
        let counts = (0..executions).map(count).collect();
        match what {
            What::Loop(body) => Node { counts, key: None, body: nodes(tree, body, total) },
            What::Event { key, .. } => Node { counts, key: Some(char::from(key.0 as u8)), body: vec![] },
        }
    };
    body.iter().map(node).collect()
}

fn tree_of(texts: &[&str]) -> Vec<Node> {
    let tree = build(&sequences(texts), Order::Exact, &mut |_| {});
    nodes(&tree, tree.root(), texts.len() as u32)
}

fn shown(nodes: &[Node]) -> String {
    nodes.iter().map(Node::to_string).collect::<Vec<_>>().join(", ")
}

/// The letters of each sequence, as the tree gives them.
fn walked(tree: &Tree, texts: &[&str]) -> Vec<String> {
    let letters: Vec<char> = texts.iter().flat_map(|text| text.chars()).collect();
    let walker = tree.walker();
    let walk = |sequence| {
        let mut text = String::new();
        walker.walk(sequence, &mut |visit| text.push(letters[visit.event.0 as usize]));
        text
    };
    (0..texts.len() as u32).map(walk).collect()
}

#[test]
fn worked_examples_have_their_trees() {
    let shown = |text: String| shown(&tree_of(&[&text]));
    assert_eq!(shown(format!("p{}q", "Sxy".repeat(4))), "p, 4 x [S, x, y], q");
    assert_eq!(shown("xxxxxyyy".repeat(4)), "4 x [5 x x, 3 x y]");
    assert_eq!(shown(format!("{}x", "xSy".repeat(4))), "5 x [(0,1,1,1,1) y, x, (1,1,1,1,0) S]");
    let inner = format!("{}{}", "xz".repeat(5), "yw".repeat(3));
    assert_eq!(shown(inner.repeat(4)), "12 x [(5,0,0,5,0,0,5,0,0,5,0,0) x [x, z], y, w]");
    assert_eq!(shown("aaa".to_owned()), "3 x a");
    assert_eq!(shown(String::new()), "");
}

#[test]
fn time_steps_with_checkpoints_are_two_loops_around_the_exchange() {
    let steps: String = (0..12)
        .map(|step| {
            let exchange = "isw".repeat([5, 5, 6][step % 3]);
            format!("{exchange}A{}", if step % 4 == 3 { "W" } else { "" })
        })
        .collect();
    let ranks = [steps.as_str(); 6];
    assert_eq!(ranks.iter().map(|rank| rank.len()).sum::<usize>(), 6 * 207);
    let tree = build(&sequences(&ranks), Order::Exact, &mut |_| {});
    assert_eq!(tree.len(), 8);
    let exchanges = ["5,5,6"; 24].join(",");
    let expected = format!("3 x [4 x [({exchanges}) x [i, s, w], A], W]");
    assert_eq!(shown(&nodes(&tree, tree.root(), 6)), expected);
    assert_eq!(walked(&tree, &ranks), ranks);
}

#[test]
fn ranks_that_lack_a_branch_have_the_count_0() {
    assert_eq!(shown(&tree_of(&["aob", "ab", "aoob"])), "a, (1,0,2) o, b");
    assert_eq!(shown(&tree_of(&["ab", "ba"])), "(1,0) a, b, (0,1) a");
}

#[test]
fn keys_in_another_order_share_an_item_where_order_is_loose() {
    let loose = |texts: &[&str]| {
        let tree = build(&sequences(texts), Order::Loose, &mut |_| {});
        shown(&nodes(&tree, tree.root(), texts.len() as u32))
    };
    assert_eq!(loose(&["ab", "ba"]), "a, b");
    assert_eq!(loose(&["AB", "BA"]), "(1,0) A, B, (0,1) A");
    assert_eq!(loose(&["aAB", "BaA"]), "a, (1,0) A, B, (0,1) A");
}

#[test]
fn calls_inside_of_calls_are_items_of_their_own() {
    let mut sequences = sequences(&["WW"]);
    let key = |letter: u8| KeyId(letter.into());
    sequences.children(EventId(0), [key(b'p')]).expect("children");
    sequences.children(EventId(1), [key(b'p'), key(b'p')]).expect("children");
    let tree = build(&sequences, Order::Exact, &mut |_| {});
    let mut visited = Vec::new();
    tree.walker().walk(0, &mut |visit| visited.push((visit.event.0, visit.inside)));
    assert_eq!(visited, [(0, 0), (2, 1), (1, 0), (3, 1), (4, 1)]);
    assert_eq!(tree.len(), 2);
    assert_eq!(sequences.children(EventId(1), []), Err(SequencesError::Parent(1)));
    assert_eq!(sequences.children(EventId(9), []), Err(SequencesError::Parent(9)));
    assert_eq!(sequences.sequence([KeyId(128)]), Err(SequencesError::Key(128)));
}

#[test]
fn calls_are_nested_to_a_limit() {
    let mut sequences = Sequences::new(vec![Key::default()]);
    sequences.sequence([KeyId(0)]).expect("a sequence");
    let inside =
        (0..=Sequences::MAX_NESTING as u32).map(|event| sequences.children(EventId(event), [KeyId(0)]));
    let results: Vec<_> = inside.collect();
    assert!(results[..Sequences::MAX_NESTING].iter().all(Result::is_ok));
    assert_eq!(results.last(), Some(&Err(SequencesError::Nesting)));
    assert_eq!(build(&sequences, Order::Exact, &mut |_| {}).len(), Sequences::MAX_NESTING + 1);
}

fn order(tree: &Tree, sequence: u32) -> Vec<u32> {
    let mut order = Vec::new();
    tree.walker().walk(sequence, &mut |visit| order.push(visit.event.0));
    order
}

/// Each key is a loop whose first iteration holds the loops of all keys before.
#[test]
fn loops_beyond_the_limit_lose_nothing() {
    let around = |inner: Vec<u32>, key: u32| [inner, vec![key, 0, key]].concat();
    let keys = (2..200).fold(vec![0, 1, 0], around);
    let mut sequences = Sequences::new(vec![Key::default(); 200]);
    sequences.sequence(keys.iter().map(|&key| KeyId(key))).expect("a sequence");
    for order_kept in [Order::Exact, Order::Loose] {
        let tree = build(&sequences, order_kept, &mut |_| {});
        assert_eq!(order(&tree, 0), (0..keys.len() as u32).collect::<Vec<_>>());
        assert!(tree.len() > 200, "rows below the limit: {}", tree.len());
    }
}

#[test]
fn hundreds_of_loops_behind_each_other_are_items_of_one_body() {
    let keys: Vec<u32> = (0..300).flat_map(|step| [2 * step, 2 * step + 1, 2 * step]).collect();
    let mut sequences = Sequences::new(vec![Key::default(); 600]);
    sequences.sequence(keys.iter().map(|&key| KeyId(key))).expect("a sequence");
    let tree = build(&sequences, Order::Exact, &mut |_| {});
    assert_eq!(tree.root().len(), 300);
    assert_eq!(order(&tree, 0), (0..900).collect::<Vec<_>>());
}

/// Would take minutes if each loop were a pass over all events.
#[test]
fn thousands_of_loops_behind_each_other_are_found_in_one_pass() {
    for runs in [|_: u32| 2, |step: u32| 2 + step as usize % 3] {
        let body = |step: u32| [2 * step, 2 * step + 1].repeat(runs(step));
        let keys: Vec<u32> = (0..20_000).flat_map(body).collect();
        let mut sequences = Sequences::new(vec![Key::default(); 40_000]);
        sequences.sequence(keys.iter().map(|&key| KeyId(key))).expect("a sequence");
        let tree = build(&sequences, Order::Exact, &mut |_| {});
        assert_eq!(tree.root().len(), 20_000);
        assert_eq!(order(&tree, 0), (0..keys.len() as u32).collect::<Vec<_>>());
    }
}

/// Bodies of random programs: letters, loops, branches.
fn program() -> impl Strategy<Value = String> {
    let letters = "[abcdAB]{0,3}";
    letters.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            (inner.clone(), 0_usize..4).prop_map(|(body, count)| body.repeat(count)),
            prop::collection::vec(inner, 0..4).prop_map(|parts| parts.concat()),
        ]
    })
}

fn runs() -> impl Strategy<Value = Vec<String>> {
    let changed =
        (program(), prop::collection::vec((0_usize..40, "[abA]?"), 0..4)).prop_map(|(text, changes)| {
            let mut others = vec![text.chars().take(200).collect::<String>()];
            for (at, letter) in changes {
                let mut other = others[0].clone();
                if at < other.len() {
                    other.replace_range(at..=at, &letter);
                }
                others.push(other);
            }
            others
        });
    prop_oneof![changed, prop::collection::vec("[abcA]{0,8}", 0..4)]
}

proptest! {
    #[test]
    fn trees_are_those_of_the_definition(texts in runs()) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        prop_assert_eq!(shown(&tree_of(&texts)), shown(&oracle::tree(&texts)));
    }

    #[test]
    fn trees_give_their_sequences_back(texts in runs()) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let tree = build(&sequences(&texts), Order::Exact, &mut |_| {});
        prop_assert_eq!(walked(&tree, &texts), texts);
    }

    #[test]
    fn loose_trees_are_small_and_keep_every_event(texts in runs()) {
        let texts: Vec<&str> = texts.iter().map(|text| text.as_ref()).collect();
        let tree = build(&sequences(&texts), Order::Loose, &mut |_| {});
        let sorted = |text: &str| { let mut letters: Vec<char> = text.chars().collect(); letters.sort_unstable(); letters };
        let collectives = |text: &str| text.chars().filter(char::is_ascii_uppercase).collect::<String>();
        for (walked, text) in walked(&tree, &texts).iter().zip(&texts) {
            prop_assert_eq!(sorted(walked), sorted(text));
            prop_assert_eq!(collectives(walked), collectives(text));
        }
        let keys: std::collections::HashSet<char> = texts.iter().flat_map(|text| text.chars()).collect();
        if !keys.iter().any(char::is_ascii_uppercase) {
            prop_assert!(tree.len() <= 2 * keys.len());
        }
    }
}
