//! What is drawn of a structure, as people see it.

use crate::columns::OF_EXECUTION;
use iotrail_model::Event;
use iotrail_structure::{Distribution, Drawn, ItemId};
use iotrail_structure_file::Document;
use serde::Serialize;

/// A column of which only the distribution is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DrawnColumn {
    /// `count`, or the column of events.
    pub column: &'static str,
    /// Whether these are the values of each thread; else of all together.
    pub each_thread: bool,
    /// The most that a value is off the middle of its cluster, in percent of that; NULL where values name something or have
    /// no middle.
    pub error_percent: Option<f64>,
    /// The clusters, the one with the smallest values first.
    pub clusters: Vec<DrawnCluster>,
}

/// Values that are drawn for each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DrawnCluster {
    /// How many values.
    pub count: u64,
    /// The smallest.
    pub min: i64,
    /// The largest.
    pub max: i64,
    /// Their sum, cut to 64 bits; NULL where values name something.
    pub sum: Option<i64>,
    /// From, to (both within), number of values: each different value, or buckets of values.
    pub values: Vec<(i64, i64, u64)>,
}

/// What is drawn of an item.
pub(crate) fn drawn_of(document: &Document, item: ItemId) -> Vec<DrawnColumn> {
    let columns = document.structure.drawn().range((item.0, 0)..=(item.0, u32::MAX));
    columns.map(|(&(_, column), drawn)| of_column(column, drawn)).collect()
}

fn of_column(column: u32, drawn: &Drawn) -> DrawnColumn {
    let name = (column as usize).checked_sub(1).and_then(|place| OF_EXECUTION.get(place));
    let clusters: Vec<DrawnCluster> = drawn.distributions.iter().map(cluster).collect();
    let errors = clusters.iter().map(|cluster| cluster.sum.and(error_percent(cluster.min, cluster.max)));
    let error_percent = errors.collect::<Option<Vec<f64>>>();
    DrawnColumn {
        column: name.map_or("count", |&(column, _)| Event::COLUMNS[column].name),
        each_thread: drawn.common,
        error_percent: error_percent.and_then(|errors| errors.into_iter().reduce(f64::max)),
        clusters,
    }
}

/// How far the ends of a cluster are from its middle; NULL if they have different signs.
fn error_percent(min: i64, max: i64) -> Option<f64> {
    let (width, double_middle) = (max as f64 - min as f64, (max as f64 + min as f64).abs());
    match min == max {
        true => Some(0.0),
        false => (min.signum() * max.signum() >= 0).then(|| 100.0 * width / double_middle),
    }
}

fn cluster(distribution: &Distribution) -> DrawnCluster {
    let (min, max) = distribution.range().unwrap_or_default();
    let count = distribution.count();
    match distribution {
        Distribution::Names(names) => {
            let values = names.each().map(|(value, count)| (value, value, count)).collect();
            DrawnCluster { count, min, max, sum: None, values }
        }
        Distribution::Quantities(quantities) => {
            let histogram = quantities.histogram();
            let sum = histogram.sum().clamp(i64::MIN.into(), i64::MAX.into()) as i64;
            let each = quantities.values().map(|values| {
                values.iter().map(|(&value, &count)| (value, value, count)).collect::<Vec<_>>()
            });
            let bucket = |bucket: iotrail_structure::Bucket| {
                let (low, high) = bucket.range();
                (low.clamp(min, max), high.clamp(min, max), bucket.count)
            };
            let values = each.unwrap_or_else(|| histogram.buckets().map(bucket).collect());
            DrawnCluster { count, min, max, sum: Some(sum), values }
        }
    }
}
