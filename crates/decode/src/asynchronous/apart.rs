//! Which of several requests with one key has which result, where all of them have completed: no transfer moves more than was asked for.

/// Of more requests it is not tried.
const MOST: usize = 6;

/// Of each result the request that it is of, by their places; NULL if another request may have had it. `most` are the bytes that each request
/// may move, NULL where that is no transfer or not known.
pub(super) fn told_apart(most: &[Option<u64>], results: &[i32]) -> Option<Vec<usize>> {
    let equal = results.windows(2).all(|pair| pair[0] == pair[1]);
    if most.len() != results.len() || most.len() > MOST && !equal {
        return None;
    }
    if equal {
        return Some((0..results.len()).collect());
    }
    let mut search =
        Search { most, results, free: vec![true; results.len()], of_requests: Vec::new(), found: None };
    if !search.is_unique() {
        return None;
    }
    let of_requests = search.found?;
    let mut of_results = vec![0; results.len()];
    of_requests.into_iter().enumerate().for_each(|(request, result)| of_results[result] = request);
    Some(of_results)
}

struct Search<'a> {
    most: &'a [Option<u64>],
    results: &'a [i32],
    free: Vec<bool>,
    /// Of the first requests the places of their results.
    of_requests: Vec<usize>,
    found: Option<Vec<usize>>,
}

impl Search<'_> {
    /// Whether all ways to give the results that are left to the requests that are left come to what was found first.
    fn is_unique(&mut self) -> bool {
        let request = self.of_requests.len();
        if request == self.most.len() {
            let values =
                |places: &[usize]| places.iter().map(|place| self.results[*place]).collect::<Vec<_>>();
            return match &self.found {
                Some(found) => values(found) == values(&self.of_requests),
                None => {
                    self.found = Some(self.of_requests.clone());
                    true
                }
            };
        }
        for place in 0..self.results.len() {
            let fits = u64::try_from(self.results[place])
                .ok()
                .zip(self.most[request])
                .is_none_or(|(moved, most)| moved <= most);
            if !self.free[place] || !fits {
                continue;
            }
            self.free[place] = false;
            self.of_requests.push(place);
            let unique = self.is_unique();
            self.of_requests.pop();
            self.free[place] = true;
            if !unique {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::told_apart;

    #[test]
    fn results_are_told_apart_by_what_requests_may_move() {
        assert_eq!(told_apart(&[Some(10), Some(11)], &[10, 11]), Some(vec![0, 1]));
        assert_eq!(told_apart(&[Some(10), Some(11)], &[11, 10]), Some(vec![1, 0]));
        assert_eq!(told_apart(&[Some(100), Some(60)], &[60, 7]), None, "each may be of each");
        assert_eq!(told_apart(&[Some(100), Some(60)], &[60, 60]), Some(vec![0, 1]), "they are the same");
        assert_eq!(told_apart(&[None, Some(5)], &[6, 2]), Some(vec![0, 1]));
        assert_eq!(told_apart(&[Some(4), Some(5)], &[-5, 5]), Some(vec![0, 1]));
        assert_eq!(told_apart(&[Some(4), Some(5)], &[9, 5]), None, "none fits");
        assert_eq!(told_apart(&[Some(4)], &[4, 4]), None, "one completes twice");
        assert_eq!(told_apart(&[Some(1); 9], &[1; 9]), Some((0..9).collect()));
    }
}
