use crate::influx::line::{Line, push_tag};

fn line(fill: impl FnOnce(&mut Line)) -> String {
    let mut line = Line::default();
    line.begin("m");
    fill(&mut line);
    line.end(7).to_owned()
}

#[test]
fn fields_have_types() {
    let text = line(|line| {
        line.integer("i", Some(-3));
        line.integer("unknown", None);
        line.count("c", u64::MAX);
        line.fraction("f", Some(0.25));
        line.fraction("nan", Some(f64::NAN));
        line.text("t", Some("a b"));
    });
    assert_eq!(text, "m i=-3i,c=9223372036854775807i,f=0.25,t=\"a b\" 7");
}

#[test]
fn hostile_names_stay_in_their_field() {
    let text = |value: &str| line(|line| line.text("t", Some(value)));
    assert_eq!(text(r#"",x="1"#), r#"m t="\",x=\"1" 7"#);
    assert_eq!(text("a\nm x=1i 1\0"), r#"m t="a\\x0am x=1i 1\\x00" 7"#);
    assert_eq!(text(r"end\"), r#"m t="end\\" 7"#);
    assert_eq!(text(""), r#"m t="" 7"#);
    assert!(text(&"ü".repeat(100_000)).len() < 65_000);
}

#[test]
fn hostile_tags_stay_in_their_tag() {
    let tag = |value: &str| {
        let mut series = "m".to_owned();
        push_tag(&mut series, "t", value);
        series
    };
    assert_eq!(tag("a b,c=d"), r"m,t=a\ b\,c\=d");
    assert_eq!(tag("end\\"), r"m,t=end\x5c");
    assert_eq!(tag("a\nb"), r"m,t=a\x0ab");
    assert_eq!(tag("\"ü\""), "m,t=\"ü\"");
    assert_eq!(tag(""), "m");
}
