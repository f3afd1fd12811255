//! The page is valid XML, shows all values, loads nothing from elsewhere and stays small.

use lehr_report::{
    CalibrationBin, Choice, Coefficient, Comparison, CountBin, Draws, EffectCurve, EffectPoint,
    Estimate, GroupEffects, Level, PredictiveCheck, Prior, ReportData, Residual, Summary,
    TracePoint, Verdict, render_page, write_page,
};

use crate::demo::{Noise, demo, draws};

/// Parses the page as XML, which is stricter than any browser.
fn parsed(text: &str) -> roxmltree::Document<'_> {
    let body = text
        .strip_prefix("<!DOCTYPE html>")
        .expect("a document type");
    roxmltree::Document::parse(body.trim()).expect("well-formed markup")
}

fn ids(text: &str) -> Vec<String> {
    let document = parsed(text);
    let sections = document
        .descendants()
        .filter(|node| node.has_tag_name("section"));
    sections
        .filter_map(|node| node.attribute("id"))
        .map(String::from)
        .collect()
}

#[test]
fn a_full_page_is_well_formed_and_shows_its_sections_in_order() {
    let expected = [
        "model",
        "coefficients",
        "explained",
        "effects",
        "functions",
        "trace",
        "pairs",
        "predictive",
        "calibration",
        "counts",
        "residuals",
        "groups",
        "methods",
        "run",
    ];
    assert_eq!(ids(&render_page(&demo())), expected);
}

#[test]
fn the_verdict_comes_before_everything_else() {
    let text = render_page(&demo());
    let document = parsed(&text);
    let main = document
        .descendants()
        .find(|node| node.has_tag_name("main"))
        .unwrap();
    let first = main.first_element_child().unwrap();
    assert_eq!(first.attribute("class"), Some("verdict corrected"));
}

#[test]
fn an_empty_report_has_a_verdict_that_does_not_reassure_and_no_sections() {
    let text = render_page(&ReportData::default());
    assert!(ids(&text).is_empty());
    assert!(text.contains("Do not trust"));
    assert!(!text.contains("<nav") && !text.contains("NaN"));
}

#[test]
fn a_section_without_data_leaves_with_its_link() {
    let mut data = demo();
    data.calibration.clear();
    data.groups.clear();
    data.draws = None;
    let text = render_page(&data);
    for absent in ["calibration", "groups", "pairs"] {
        assert!(!ids(&text).contains(&absent.to_string()));
        assert!(!text.contains(&format!("href=\"#{absent}\"")));
    }
}

#[test]
fn nothing_is_fetched_and_nothing_runs() {
    let text = render_page(&demo());
    let document = parsed(&text);
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        let name = node.tag_name().name();
        assert!(
            !["script", "img", "iframe", "object"].contains(&name),
            "<{name}>"
        );
        for attribute in node.attributes() {
            assert!(!attribute.name().starts_with("on"));
            assert!(!attribute.value().contains("//"), "{}", attribute.value());
        }
    }
    let style = document
        .descendants()
        .find(|node| node.has_tag_name("style"))
        .unwrap();
    let style = style.text().unwrap();
    assert!(!style.contains("url(") && !style.contains("@import"));
}

const HOSTILE: &str =
    "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;\u{0}\u{1b}]]>\u{202e}";

/// A report whose every text is hostile.
fn hostile() -> ReportData {
    let text = || HOSTILE.to_string();
    let coefficient = || Coefficient::new(HOSTILE, Summary::normal_summary(1.0, 0.1));
    ReportData {
        title: text(),
        method: text(),
        verdict: Verdict {
            level: Level::Reliable,
            sentence: text(),
            advice: vec![text()],
        },
        model: text(),
        priors: vec![Prior {
            name: text(),
            distribution: text(),
            origin: text(),
        }],
        coefficients: vec![coefficient()],
        effects: vec![EffectCurve {
            variable: text(),
            response: text(),
            numeric: false,
            points: vec![EffectPoint {
                name: text(),
                value: None,
                mean: 0.5,
                low: f64::NEG_INFINITY,
                high: f64::NAN,
            }],
        }],
        groups: vec![GroupEffects {
            all: None,
            group: text(),
            term: text(),
            class: Some(text()),
            effects: vec![coefficient()],
        }],
        choices: vec![Choice {
            key: text(),
            value: text(),
        }],
        draws: Some(Draws {
            names: vec![text().into(), text().into()],
            values: (0..40).map(|index| f64::from(index * index)).collect(),
        }),
        comparison: vec![Comparison {
            method: text(),
            bound: 1.0,
            se: 0.1,
            seconds: 1.0,
            test_log_likelihood: None,
            pareto_k: None,
        }],
        version: text(),
        date: text(),
        ..demo()
    }
}

#[test]
fn hostile_names_stay_text() {
    let text = render_page(&hostile());
    let document = parsed(&text);
    for name in ["script", "img"] {
        let found = document.descendants().find(|node| node.has_tag_name(name));
        assert!(found.is_none(), "<{name}>");
    }
    let title = document
        .descendants()
        .find(|node| node.has_tag_name("h1"))
        .unwrap();
    let shown = HOSTILE.replace(['\u{0}', '\u{1b}'], "\u{fffd}");
    assert_eq!(title.text(), Some(shown.as_str()));
}

/// Values that have broken plots before: zero, very large, very small, not finite.
const EXTREMES: [f64; 8] = [
    0.0,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    1e308,
    -1e308,
    5e-324,
    1e-300,
];

#[test]
fn extreme_numbers_leave_the_page_well_formed() {
    for a in EXTREMES {
        for b in EXTREMES {
            let text = render_page(&extreme(a, b));
            let document = parsed(&text);
            for node in document.descendants() {
                for attribute in node
                    .attributes()
                    .filter(|attribute| attribute.name() != "aria-label")
                {
                    let value = attribute.value();
                    assert!(!value.contains("NaN") && !value.contains("inf"), "{value}");
                }
            }
            assert!(text.len() < 1_000_000);
        }
    }
}

#[expect(clippy::too_many_lines, reason = "one long literal")]
fn extreme(a: f64, b: f64) -> ReportData {
    let summary = Summary {
        mean: a,
        mcse: Some(b),
        sd: b,
        q5: b,
        q50: a,
        q95: b,
        quartiles: Some([a, b]),
    };
    let coefficient = Coefficient {
        corrected: Some(Summary::normal_summary(b, a)),
        ..Coefficient::new("x", summary)
    };
    ReportData {
        coefficients: vec![
            coefficient.clone(),
            Coefficient::new("y", Summary::normal_summary(1.0, 1.0)),
        ],
        groups: vec![GroupEffects {
            all: None,
            group: "g".into(),
            term: "Intercept".into(),
            class: None,
            effects: vec![coefficient; 40],
        }],
        bound: Some(Estimate { mean: a, se: b }),
        pareto_k: Some(a),
        effective_sample_size: Some(b),
        trace: (0..30)
            .map(|iteration| TracePoint {
                iteration,
                value: if iteration % 2 == 0 { a } else { b },
            })
            .collect(),
        draws: Some(Draws {
            names: vec!["x".into(), "y".into()],
            values: vec![a, b, b, 1.0, 2.0, a, 3.0, 1.0],
        }),
        predictive: Some(PredictiveCheck::Samples {
            observed: vec![a, b, 1.5],
            replicated: vec![vec![b, a], vec![]],
        }),
        calibration: vec![CalibrationBin {
            predicted: a,
            observed: b,
            count: u64::MAX,
            low: a,
            high: b,
        }],
        rootogram: vec![CountBin {
            value: u64::MAX,
            observed: a,
            expected: b,
            interval: Some([a, b]),
        }],
        residuals: vec![
            Residual {
                fitted: a,
                residual: b
            };
            2
        ],
        comparison: vec![Comparison {
            method: "m".into(),
            bound: a,
            se: b,
            seconds: b,
            test_log_likelihood: Some(a),
            pareto_k: Some(b),
        }],
        ..ReportData::default()
    }
}

#[test]
fn one_coefficient_is_enough_for_a_page() {
    let data = ReportData {
        coefficients: vec![Coefficient::new(
            "Intercept",
            Summary::normal_summary(0.0, 0.0),
        )],
        ..ReportData::default()
    };
    let text = render_page(&data);
    assert_eq!(ids(&text), ["coefficients"]);
    assert!(text.contains("Intercept: 0.000 (0.000 to 0.000)"));
}

#[test]
fn ten_thousand_coefficients_and_draws_fit_in_a_megabyte() {
    let mut noise = Noise::new(3);
    let mut one = |index| {
        let summary = Summary::normal_summary(noise.normal(), 0.3);
        Coefficient::new(format!("a_rather_long_name[level {index}]"), summary)
    };
    let coefficients: Vec<Coefficient> = (0..10_000).map(&mut one).collect();
    let mut data = demo();
    data.groups[0].effects.clone_from(&coefficients);
    data.coefficients = coefficients;
    data.draws = Some(draws(&mut Noise::new(4), 10_000));
    let text = render_page(&data);
    parsed(&text);
    assert!(text.len() < 600_000, "{} bytes", text.len());
    assert!(text.contains("The 40 of 10,000 that are clearest of zero."));
    assert!(text.contains("9600 more rows are left out here"));
}

#[test]
fn every_picture_says_what_it_shows() {
    let text = render_page(&demo());
    let document = parsed(&text);
    let pictures: Vec<_> = document
        .descendants()
        .filter(|node| node.has_tag_name("svg"))
        .collect();
    assert!(pictures.len() >= 12, "{}", pictures.len());
    for picture in pictures {
        assert!(picture.attribute("viewBox").is_some() && picture.attribute("width").is_none());
        assert_eq!(picture.attribute("role"), Some("img"));
        let has = |name| picture.children().any(|node| node.has_tag_name(name));
        assert!(has("title") && has("desc"));
        for node in picture.descendants() {
            assert!(node.attribute("fill").is_none() && node.attribute("stroke").is_none());
        }
    }
}

#[test]
fn a_page_that_cannot_be_written_names_the_file() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("report.html");
    write_page(&demo(), &path).unwrap();
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        render_page(&demo())
    );
    let error = write_page(&demo(), &path.join("below")).unwrap_err();
    assert!(
        error.to_string().contains("below: could not write"),
        "{error}"
    );
}

#[test]
fn report_data_survives_json() {
    let data = demo();
    let text = serde_json::to_string(&data).unwrap();
    assert!(text.contains("\"name\":\"Intercept\",\"mean\":"));
    let back: ReportData = serde_json::from_str(&text).unwrap();
    assert!(render_page(&back) == render_page(&data));
}

#[test]
fn the_limit_of_the_shape_is_the_verdict_s_own() {
    let shown = |k: f64, limit: f64| {
        let mut data = demo();
        (data.pareto_k, data.pareto_k_limit) = (Some(k), Some(limit));
        render_page(&data)
    };
    // The limit for 1,024 draws: 0.69 is below 0.7 and still too large for so few draws.
    let text = shown(0.69, 0.668);
    assert!(text.contains("above 0.67: weights cannot be trusted"));
    assert!(!text.contains("usable"));
    assert!(shown(0.66, 0.668).contains("below 0.67: weights are usable"));
    assert!(shown(0.3, 0.668).contains("below 0.5: weights behave well"));
}
