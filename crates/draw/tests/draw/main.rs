//! Pictures of whole results.

#![allow(clippy::expect_used, reason = "a test fails by panicking")]

mod figures;
mod graphs;
mod layout;
mod samples;
mod selection;

/// The picture of `dfg` as it is drawn by default.
fn svg(dfg: &iotrail_dfg::Dfg) -> Vec<u8> {
    let view = iotrail_draw::View::default();
    let scene = iotrail_draw::call_graph(dfg, &view).expect("a layout");
    iotrail_draw::picture(&scene, view.theme, iotrail_draw::PictureFormat::Svg).expect("a picture")
}
