//! How often requests had which size, in powers of two.

use serde::Serialize;

/// Counts of sizes: bin n holds the sizes of n binary digits, so bin 0 holds only size 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SizeHistogram(Vec<u64>);

/// A bin that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SizeBin {
    /// The smallest size in it, in bytes: 0 or a power of two.
    pub from: u64,
    /// The largest size in it, in bytes.
    pub to: u64,
    /// Number of requests.
    pub count: u64,
}

impl SizeHistogram {
    pub(crate) fn count(&mut self, size: u64) {
        let bin = (u64::BITS - size.leading_zeros()) as usize;
        if self.0.len() <= bin {
            self.0.resize(bin + 1, 0);
        }
        self.0[bin] += 1;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// The bins that are not empty, smallest sizes first.
    pub(crate) fn bins(&self) -> Vec<SizeBin> {
        let bins = self.0.iter().enumerate().filter(|(_, count)| **count > 0);
        let bin = |(digits, count): (usize, &u64)| SizeBin {
            from: if digits == 0 { 0 } else { 1 << (digits - 1) },
            to: 1_u64.checked_shl(digits as u32).map_or(u64::MAX, |next| next - 1),
            count: *count,
        };
        bins.map(bin).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_ends_of_bins_belong_to_them() {
        let mut sizes = SizeHistogram::default();
        [0, 1, 4095, 4096, 8191, u64::MAX].iter().for_each(|size| sizes.count(*size));
        let bins: Vec<_> = sizes.bins().iter().map(|bin| (bin.from, bin.to, bin.count)).collect();
        let last = (1 << 63, u64::MAX, 1);
        assert_eq!(bins, [(0, 0, 1), (1, 1, 1), (2048, 4095, 1), (4096, 8191, 2), last]);
    }

    proptest! {
        #[test]
        fn each_size_is_in_one_bin_that_holds_it(sizes in prop::collection::vec(any::<u64>(), 0..50), cut in 0..50_usize) {
            let mut halves = [SizeHistogram::default(), SizeHistogram::default()];
            sizes.iter().enumerate().for_each(|(index, size)| halves[usize::from(index >= cut)].count(*size));
            let [mut whole, second] = halves;
            whole.merge(&second);
            let bins = whole.bins();
            prop_assert_eq!(bins.iter().map(|bin| bin.count).sum::<u64>(), sizes.len() as u64);
            for bin in bins {
                let inside = sizes.iter().filter(|size| (bin.from..=bin.to).contains(*size)).count();
                prop_assert_eq!(inside as u64, bin.count);
            }
        }
    }
}
