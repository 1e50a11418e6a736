//! The order in which people expect numbered files: `rank2` before `rank10`.

use std::cmp::Ordering;

/// Compares byte strings with runs of digits taken as numbers; a total order (`01` and `1` differ, by bytes).
pub(crate) fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let (mut rest_a, mut rest_b) = (a, b);
    loop {
        let (digits_a, digits_b) = (digits(rest_a), digits(rest_b));
        let order = if digits_a > 0 && digits_b > 0 {
            let order = compare_numbers(&rest_a[..digits_a], &rest_b[..digits_b]);
            (rest_a, rest_b) = (&rest_a[digits_a..], &rest_b[digits_b..]);
            order
        } else {
            match (rest_a.split_first(), rest_b.split_first()) {
                (Some((first_a, tail_a)), Some((first_b, tail_b))) => {
                    (rest_a, rest_b) = (tail_a, tail_b);
                    first_a.cmp(first_b)
                }
                (None, None) => return a.cmp(b),
                (None, Some(_)) => Ordering::Less,
                (Some(_), None) => Ordering::Greater,
            }
        };
        if order.is_ne() {
            return order;
        }
    }
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

fn compare_numbers(a: &[u8], b: &[u8]) -> Ordering {
    let significant = |text: &[u8]| text.iter().skip_while(|digit| **digit == b'0').count();
    let (length_a, length_b) = (significant(a), significant(b));
    length_a.cmp(&length_b).then_with(|| a[a.len() - length_a..].cmp(&b[b.len() - length_b..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_sort_by_value_and_text_by_bytes() {
        let mut names = ["rank10.st", "rank2.st", "a", "rank02.st", "rank.st", "rank2", "rank2.st.gz"];
        names.sort_by(|a, b| compare(a.as_bytes(), b.as_bytes()));
        assert_eq!(names, ["a", "rank.st", "rank2", "rank02.st", "rank2.st", "rank2.st.gz", "rank10.st"]);
    }

    proptest! {
        #[test]
        fn is_a_total_order(mut texts in prop::collection::vec("[ab019/]{0,6}", 3)) {
            let order = |a: &String, b: &String| compare(a.as_bytes(), b.as_bytes());
            texts.sort_by(order);
            for pair in texts.windows(2) {
                prop_assert!(order(&pair[0], &pair[1]).is_le());
                prop_assert_eq!(order(&pair[0], &pair[1]), order(&pair[1], &pair[0]).reverse());
            }
            prop_assert!(order(&texts[0], &texts[2]).is_le());
        }
    }
}
