//! Values of a page: keys of a dictionary, differences, values as they are.

use crate::decode::input::{SLACK, advance, bits, mask, varint, zigzag};

/// Appends what `count` keys mean. `page` ends with [`SLACK`] bytes that are none of it.
pub(super) fn keyed<T: Copy>(
    page: &[u8],
    count: usize,
    entries: &mut Vec<T>,
    cells: &mut Vec<T>,
) -> Option<()> {
    let (&width, mut rest) = page.split_first()?;
    let (width, known) = (u32::from(width), entries.len());
    let filler = *entries.first()?;
    // An entry for whatever a key can be, so that only the largest one need be looked at.
    if width > 24 || 1_usize << width > 2 * known.next_power_of_two() {
        return None;
    }
    entries.resize(known.max(1 << width), filler);
    let end = cells.len() + count;
    let mut largest = 0;
    while cells.len() < end {
        let header = varint(&mut rest)?;
        let (length, wanted) = (usize::try_from(header >> 1).ok()?, end - cells.len());
        if length == 0 {
            return None;
        }
        if header & 1 == 0 {
            let mut key = [0; 8];
            let bytes = advance(&mut rest, width.div_ceil(8) as usize)?;
            key[..bytes.len()].copy_from_slice(bytes);
            let key = usize::try_from(u64::from_le_bytes(key)).ok()?;
            largest = largest.max(key);
            let cell = *entries.get(key)?;
            cells.extend(std::iter::repeat_n(cell, length.min(wanted)));
        } else {
            let bytes = length.checked_mul(width as usize)?;
            if bytes > rest.len().checked_sub(SLACK)? {
                return None;
            }
            largest = largest.max(packed(rest, wanted.min(length.checked_mul(8)?), width, entries, cells)?);
            rest = &rest[bytes..];
        }
    }
    entries.truncate(known);
    (largest < known).then_some(())
}

/// Appends what `count` packed keys mean and answers the largest; `entries` has one for each key that there can be.
fn packed<T: Copy>(
    bytes: &[u8],
    count: usize,
    width: u32,
    entries: &[T],
    cells: &mut Vec<T>,
) -> Option<usize> {
    let low = mask(width) as usize;
    let entries = entries.get(..=low)?;
    let (mut largest, mut at) = (0, 0);
    let whole = count / 8;
    for _ in 0..whole {
        let keys = eight(bytes, at, width, low)?;
        at += width as usize;
        largest = keys.iter().copied().fold(largest, usize::max);
        cells.extend_from_slice(&keys.map(|key| entries[key & low]));
    }
    for index in 0..count % 8 {
        let key = bits(bytes, at * 8 + index * width as usize, width)? as usize;
        largest = largest.max(key);
        cells.push(entries[key & low]);
    }
    Some(largest)
}

/// Eight packed keys from the byte `at` on.
#[inline(always)]
fn eight(bytes: &[u8], at: usize, width: u32, low: usize) -> Option<[usize; 8]> {
    let word = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let key = |word: u64, index: u32| (word >> (index * width)) as usize & low;
    match width {
        0..=8 => {
            let word = word(at)?;
            Some([0, 1, 2, 3, 4, 5, 6, 7].map(|index| key(word, index)))
        }
        9..=16 => {
            // Four keys end with a byte, or in the middle of one.
            let (first, second) = (word(at)?, word(at + width as usize / 2)? >> ((width * 4) & 7));
            let [a, b, c, d] = [0, 1, 2, 3].map(|index| key(first, index));
            let [e, f, g, h] = [0, 1, 2, 3].map(|index| key(second, index));
            Some([a, b, c, d, e, f, g, h])
        }
        _ => {
            let mut keys = [0; 8];
            for (index, key) in keys.iter_mut().enumerate() {
                let bit = index * width as usize;
                *key = (word(at + (bit >> 3))? >> (bit & 7)) as usize & low;
            }
            Some(keys)
        }
    }
}

/// Appends `count` numbers that are stored as differences. `page` ends with [`SLACK`] bytes that are none of it.
pub(super) fn differences<T>(
    mut page: &[u8],
    count: usize,
    make: impl Fn(i64) -> T,
    cells: &mut Vec<T>,
) -> Option<()> {
    let input = &mut page;
    let (block, miniblocks) = (varint(input)?, varint(input)?);
    let values = usize::try_from(block.checked_div(miniblocks)?).ok()?;
    let miniblocks = usize::try_from(miniblocks).ok()?;
    if varint(input)? != count as u64 || values == 0 || !values.is_multiple_of(32) || count == 0 {
        return None;
    }
    let mut value = zigzag(input)?;
    cells.push(make(value));
    let mut left = count - 1;
    while left > 0 {
        let least = zigzag(input)?;
        let widths = advance(input, miniblocks)?;
        for width in widths {
            let width = u32::from(*width);
            if left == 0 {
                break;
            }
            let bytes = values.checked_mul(width as usize)? / 8;
            if width > 64 || bytes > input.len().checked_sub(SLACK)? {
                return None;
            }
            let some = values.min(left);
            for index in 0..some {
                let above = bits(input, index * width as usize, width)?;
                value = value.wrapping_add(least).wrapping_add(above as i64);
                cells.push(make(value));
            }
            left -= some;
            advance(input, bytes)?;
        }
    }
    Some(())
}

/// Appends `count` numbers of 32 or 64 bits.
pub(super) fn plain<T>(
    page: &[u8],
    count: usize,
    narrow: bool,
    make: impl Fn(i64) -> T,
    cells: &mut Vec<T>,
) -> Option<()> {
    if narrow {
        let numbers = page.get(..count.checked_mul(4)?)?.as_chunks().0;
        cells.extend(numbers.iter().map(|bytes| make(i64::from(i32::from_le_bytes(*bytes)))));
    } else {
        let numbers = page.get(..count.checked_mul(8)?)?.as_chunks().0;
        cells.extend(numbers.iter().map(|bytes| make(i64::from_le_bytes(*bytes))));
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{delta, hybrid};
    use proptest::prelude::*;

    fn with_slack(mut page: Vec<u8>) -> Vec<u8> {
        page.extend([0; SLACK]);
        page
    }

    proptest! {
        #[test]
        fn keys_that_are_written_are_read(
            width in 0_u32..20,
            keys in prop::collection::vec((any::<u32>(), 1_usize..40), 1..60),
        ) {
            let keys: Vec<u32> =
                keys.into_iter().flat_map(|(key, times)| vec![key & mask(width) as u32; times]).collect();
            let mut page = vec![width as u8];
            hybrid::encode(&mut page, &keys, width as u8);
            let (page, mut entries) = (with_slack(page), (0..1_u32 << width).map(|key| key ^ 5).collect::<Vec<_>>());
            let mut cells = vec![1];
            keyed(&page, keys.len(), &mut entries, &mut cells).unwrap();
            prop_assert_eq!(&cells[1..], &keys.iter().map(|key| key ^ 5).collect::<Vec<_>>()[..]);
            let largest = keys.iter().copied().max().unwrap() as usize;
            if largest > 0 && 1_usize << width <= 2 * largest.next_power_of_two() {
                entries.truncate(largest);
                prop_assert!(keyed(&page, keys.len(), &mut entries, &mut cells).is_none(), "a key has no entry");
            }
        }

        #[test]
        fn differences_that_are_written_are_read(
            small in prop::collection::vec(-1000_i64..1000, 1..400),
            any in prop::collection::vec(any::<i64>(), 0..40),
        ) {
            let values = [small, any].concat();
            let mut page = Vec::new();
            delta::encode(&mut page, &values);
            let whole = with_slack(page.clone());
            let mut cells = Vec::new();
            differences(&whole, values.len(), |value| value, &mut cells).unwrap();
            prop_assert_eq!(&cells, &values);
            let cut = with_slack(page[..page.len() / 2].to_vec());
            prop_assert!(values.len() < 3 || differences(&cut, values.len(), |value| value, &mut cells).is_none());
        }

        #[test]
        fn bytes_that_are_anything_give_as_many_values_as_are_wanted_or_none(
            page in prop::collection::vec(any::<u8>(), 0..60),
            width in 0_u8..70,
            count in 0_usize..300,
            entries in 0_usize..40,
        ) {
            let mut cells = Vec::new();
            let done = differences(&with_slack(page.clone()), count, |value| value, &mut cells);
            prop_assert!(cells.len() <= count.max(1) && (done.is_none() || cells.len() == count));
            let keys = with_slack([&[width], &page[..]].concat());
            let mut cells = Vec::new();
            let done = keyed(&keys, count, &mut vec![7; entries], &mut cells);
            prop_assert!(cells.len() <= count && (done.is_none() || cells.len() == count));
            let mut cells = Vec::new();
            let done = plain(&page, count, width % 2 == 0, |value| value, &mut cells);
            prop_assert!(done.is_none() || cells.len() == count);
        }
    }
}
