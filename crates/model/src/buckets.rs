//! Buckets of integers with a bounded relative error, for counts of more distinct values than memory has room for.
//!
//! Each power of two is divided into 128 equal buckets and smaller values have one each, so that the middle of a bucket is
//! off by at most half of it, 1/256 of the value. Which bucket a value belongs to depends on nothing else: counts by bucket
//! merge to what one pass over everything gives.

/// Largest relative difference of a value and the middle of its bucket.
pub const RELATIVE_ERROR: f64 = 1.0 / 256.0;

const SUB_BITS: u32 = 7;
const SUB_BUCKETS: u64 = 1 << SUB_BITS;

/// The bucket of a magnitude; the largest is below 7,500.
#[inline]
#[must_use]
pub fn bucket(magnitude: u64) -> usize {
    if magnitude < SUB_BUCKETS {
        return magnitude as usize;
    }
    let shift = magnitude.ilog2() - SUB_BITS;
    let within = (magnitude >> shift) & (SUB_BUCKETS - 1);
    (u64::from(shift + 1) * SUB_BUCKETS + within) as usize
}

/// The smallest magnitude in a bucket.
#[must_use]
pub fn start(bucket: usize) -> u64 {
    let (row, within) = (bucket as u64 / SUB_BUCKETS, bucket as u64 % SUB_BUCKETS);
    if row == 0 { within } else { (SUB_BUCKETS + within) << (row - 1) }
}

/// The middle of a bucket, which stands for all of its magnitudes.
#[must_use]
pub fn middle(bucket: usize) -> i64 {
    let row = bucket as u64 / SUB_BUCKETS;
    let half_width = if row <= 1 { 0 } else { 1_u64 << (row - 2) };
    i64::try_from(start(bucket) + half_width).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_values_have_a_bucket_each() {
        for value in 0..=255 {
            assert_eq!((bucket(value), start(bucket(value))), (value as usize, value));
            assert_eq!(middle(bucket(value)), value as i64);
        }
        assert!(bucket(u64::MAX) < 7_500);
    }

    proptest! {
        #[test]
        fn every_bucket_is_within_the_error(value in any::<i64>()) {
            let magnitude = value.unsigned_abs();
            let error = (middle(bucket(magnitude)) as f64 - magnitude as f64).abs();
            prop_assert!(error <= RELATIVE_ERROR * magnitude as f64);
            prop_assert!(start(bucket(magnitude)) <= magnitude);
        }

        #[test]
        fn buckets_keep_the_order(a in any::<u64>(), b in any::<u64>()) {
            prop_assert!(bucket(a.min(b)) <= bucket(a.max(b)));
        }
    }
}
