//! Charts, Gantt charts and workflow pictures of good and of nasty data: legible, inert, the same every time.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking and skips aloud")]

use iotrail_draw::chart::{self, Axis, Chart, Marks, Plot, PlotKind, Steps, Unit};
use iotrail_draw::flow::{self, FlowView};
use iotrail_draw::gantt;
use iotrail_draw::layout::Rect;
use iotrail_draw::scene::{Item, Outline, Scene, Text};
use iotrail_draw::{PictureFormat, Scale, Theme, picture, picture_file};
use iotrail_stats::result::Quantity;
use proptest::prelude::*;
use std::path::Path;
use std::process::{Command, Stdio};

/// Every text of a scene, with the classes of the groups that it is in.
fn texts(scene: &Scene) -> Vec<&Text> {
    fn of<'a>(items: &'a [Item], found: &mut Vec<&'a Text>) {
        for item in items {
            match item {
                Item::Text(text) => found.push(text),
                Item::Group(group) => of(&group.items, found),
                Item::Shape(_) => {}
            }
        }
    }
    let mut found = Vec::new();
    of(&scene.items, &mut found);
    found
}

/// Where the letters of a text are, without the room above and below them.
fn place(text: &Text) -> Rect {
    let height = text.size * 0.72;
    Rect { x: text.left() + 0.5, y: text.at.y - height, width: text.width() - 1.0, height }
}

/// Every number of a scene.
fn numbers(items: &[Item]) -> Vec<f64> {
    let rect = |rect: &Rect| vec![rect.x, rect.y, rect.width, rect.height];
    let mut found = Vec::new();
    for item in items {
        match item {
            Item::Group(group) => found.extend(numbers(&group.items)),
            Item::Text(text) => found.extend([text.at.x, text.at.y, text.size]),
            Item::Shape(shape) => found.extend(match &shape.outline {
                Outline::Box { rect: place, radius } => [rect(place), vec![*radius]].concat(),
                Outline::Ellipse(place) => rect(place),
                Outline::Circle { middle, radius } => vec![middle.x, middle.y, *radius],
                Outline::Line(route) => {
                    route.curves.iter().flatten().flat_map(|point| [point.x, point.y]).collect()
                }
                Outline::Polyline(points) | Outline::Polygon(points) => {
                    points.iter().flat_map(|point| [point.x, point.y]).collect()
                }
            }),
        }
    }
    found
}

#[test]
fn no_text_lies_on_another_and_none_beyond_the_page() {
    for (name, scene) in crate::samples::all() {
        let texts: Vec<(&str, Rect)> =
            texts(&scene).into_iter().map(|text| (text.content.as_str(), place(text))).collect();
        for (index, (text, here)) in texts.iter().enumerate() {
            assert!(
                here.x >= 0.0 && here.x + here.width <= scene.width,
                "{name}: {text:?} is beyond {}",
                scene.width
            );
            assert!(here.y >= 0.0 && here.y + here.height <= scene.height, "{name}: {text:?}");
            for (other, there) in &texts[index + 1..] {
                assert!(!here.overlaps(there), "{name}: {text:?} lies on {other:?}");
            }
        }
    }
}

#[test]
fn every_number_is_finite_and_every_name_harmless() {
    for (name, scene) in crate::samples::all() {
        assert!(numbers(&scene.items).iter().all(|number| number.is_finite()), "{name}");
        for theme in [Theme::Auto, Theme::Dark] {
            let svg = String::from_utf8(picture(&scene, theme, PictureFormat::Svg).unwrap()).unwrap();
            assert!(!svg.contains("<script") && !svg.contains("href") && !svg.contains("NaN"), "{name}");
            assert!(!svg.chars().any(|character| character.is_control() && character != '\n'), "{name}");
            assert!(!svg.contains('\u{202e}'), "{name}");
        }
    }
}

#[test]
fn figures_are_the_same_every_time() {
    // Graphviz has a limit of time, and a loaded machine may be slower than that.
    let built_in = || crate::samples::all().into_iter().filter(|(name, _)| !name.ends_with("-dot"));
    for ((name, scene), (_, again)) in built_in().zip(built_in()) {
        assert!(scene == again, "{name}");
    }
}

#[test]
fn figures_are_well_formed_xml() {
    let tool = Command::new("xmllint").arg("--version").stderr(Stdio::null()).status();
    if tool.is_err() {
        eprintln!("SKIPPED: `xmllint` is not installed, so its opinion is not asked");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let files: Vec<_> = (crate::samples::all().iter())
        .map(|(name, scene)| {
            let path = directory.path().join(format!("{name}.svg"));
            std::fs::write(&path, picture(scene, Theme::Auto, PictureFormat::Svg).unwrap()).unwrap();
            path
        })
        .collect();
    let said = Command::new("xmllint").arg("--noout").args(&files).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
}

#[test]
fn a_scene_becomes_the_file_that_its_name_asks_for() {
    let scene = gantt::scene(&crate::samples::montage(2));
    for (name, magic) in [("x.svg", &b"<svg"[..]), ("x.PNG", b"\x89PNG"), ("x.pdf", b"%PDF")] {
        assert!(picture_file(&scene, Theme::Light, Path::new(name)).unwrap().starts_with(magic), "{name}");
    }
    let said = picture_file(&scene, Theme::Light, Path::new("x.csv")).unwrap_err().to_string();
    assert_eq!(said, "x.csv: not a format of pictures; use one of .svg, .png, .pdf");
}

/// Groups by class, and the texts in the order of painting.
fn structure(scene: &Scene) -> String {
    fn count(items: &[Item], classes: &mut std::collections::BTreeMap<&'static str, usize>) {
        for item in items {
            if let Item::Group(group) = item {
                *classes.entry(group.class).or_default() += 1;
                count(&group.items, classes);
            }
        }
    }
    let mut classes = std::collections::BTreeMap::new();
    count(&scene.items, &mut classes);
    let texts: Vec<&str> = texts(scene).iter().map(|text| text.content.as_str()).collect();
    format!("{classes:?}\n{}", texts.join("\n"))
}

#[test]
fn a_distribution_says_what_it_shows() {
    let series = |name: &str, steps: &[(f64, u64)]| Steps { name: name.to_owned(), steps: steps.to_vec() };
    let chart = Chart {
        title: "Latency".to_owned(),
        notes: vec!["Layer: system calls.".to_owned()],
        x: Axis { label: "latency of a call".to_owned(), unit: Unit::Nanoseconds, scale: Scale::Linear },
        marks: Marks::Steps(vec![
            series("read", &[(500.0, 1), (1500.0, 4)]),
            series("write", &[(2000.0, 2)]),
        ]),
    };
    insta::assert_snapshot!(structure(&chart::scene(&chart)));
}

#[test]
fn a_process_that_failed_and_one_that_was_not_seen_to_end_are_marked() {
    let mut montage = crate::samples::montage(2);
    montage.rows[3].failed = true;
    insta::assert_snapshot!(structure(&gantt::scene(&montage)));
}

#[test]
fn a_workflow_says_what_is_in_it() {
    let (graph, path) = crate::samples::mosaic();
    let view = FlowView { highlight: Some(path), ..FlowView::default() };
    insta::assert_snapshot!(structure(&flow::scene(&graph, &view).unwrap()));
}

#[test]
fn a_workflow_that_is_too_large_says_what_it_hides() {
    let view = FlowView { max_vertices: 20, ..FlowView::default() };
    let scene = flow::scene(&crate::samples::layers(100), &view).unwrap();
    let said = structure(&scene);
    assert!(said.contains("181 of 201 vertices"), "{said}");
    assert_eq!(
        said.matches("step").count() + said.matches(".dat").count() + said.matches("start").count(),
        20,
        "{said}"
    );
}

#[test]
fn every_edge_is_drawn_from_border_to_border() {
    let (graph, _) = crate::samples::mosaic();
    let classes = structure(&flow::scene(&graph, &FlowView::default()).unwrap());
    assert!(
        classes.starts_with(r#"{"edge": 24, "edge-label": 16, "header": 1, "legend": 1, "node": 17}"#),
        "{classes}"
    );
}

#[test]
fn plots_are_written_as_words() {
    assert_eq!("ecdf".parse(), Ok(Plot { kind: PlotKind::Ecdf, quantity: None }));
    assert_eq!("box:lifetime".parse(), Ok(Plot { kind: PlotKind::Box, quantity: Some(Quantity::Lifetime) }));
    assert!("pie".parse::<Plot>().unwrap_err().contains("ecdf, histogram, box, bytes, calls, heat"));
    assert!("ecdf:love".parse::<Plot>().unwrap_err().contains("latency"));
    assert_eq!(
        "heat:latency".parse::<Plot>().unwrap_err(),
        "`heat` has no choice of quantities; write `heat` alone"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_curve_of_anything_is_drawn(values in prop::collection::vec(prop_oneof![any::<i64>(), -3..3_i64, 0..100_000_i64], 0..40), plot in 0..3_usize) {
        let profile = iotrail_stats::Profile {
            distributions: vec![crate::samples::distribution(Quantity::Latency, "read", values)],
            ..iotrail_stats::Profile::default()
        };
        let plot = Plot { kind: [PlotKind::Ecdf, PlotKind::Histogram, PlotKind::Box][plot], quantity: None };
        let scene = chart::sheet("x", &chart::of_profile(&profile, plot));
        prop_assert!(numbers(&scene.items).iter().all(|number| number.is_finite()));
        prop_assert!(scene.height < 2000.0);
    }
}
