//! A row of time bins as text: one character for the share of a bin in which something was in flight.

const DIGITS: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
/// Shorter runs of empty bins are not worth the marks around them.
const SHORTEST_RUN: usize = 6;

/// `.` is an empty bin, `~N!~` stands for N empty ones, a digit d for a share of (d + 1) / 64.
pub(crate) fn encode(shares: &[f64]) -> String {
    let mut text = String::with_capacity(shares.len());
    for run in shares.chunk_by(|a, b| (*a > 0.0) == (*b > 0.0)) {
        if run[0] > 0.0 {
            text.extend(run.iter().map(|share| char::from(digit(*share))));
        } else if run.len() < SHORTEST_RUN {
            text.extend(std::iter::repeat_n('.', run.len()));
        } else {
            text.push_str(&format!("~{}!~", run.len()));
        }
    }
    text
}

/// One digit of 64.
pub(crate) fn figure(value: u64) -> char {
    char::from(DIGITS[(value & 63) as usize])
}

fn digit(share: f64) -> u8 {
    let step = (share.clamp(0.0, 1.0) * 64.0).ceil() as usize;
    DIGITS[step.saturating_sub(1).min(63)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_runs_are_counted_and_shares_are_digits() {
        let mut shares = vec![0.0; 10];
        shares.extend([1.0, 0.001, 0.5, 0.0, 2.0]);
        assert_eq!(encode(&shares), "~10!~_0V._");
    }
}
