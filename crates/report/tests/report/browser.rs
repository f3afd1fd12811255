//! The page in a real browser.

use std::path::Path;
use std::process::{Command, Output};

use lehr_report::{Estimate, render_page, write_page};

use crate::demo::demo;

const FLAGS: [&str; 10] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--enable-logging=stderr",
];

/// Opens a page with additional flags.
fn opened(page: &Path, flags: &[String]) -> Output {
    let profile = tempfile::tempdir().unwrap();
    let browser = std::env::var("LEHR_CHROMIUM").unwrap_or_else(|_| "chromium".into());
    Command::new(browser)
        .args(FLAGS)
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(flags)
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap()
}

/// Takes a screenshot of a page and returns the browser's messages.
fn photographed(page: &Path, picture: &Path, scheme: &str) -> String {
    let flags = [
        "--window-size=1280,5000".into(),
        format!("--blink-settings=preferredColorScheme={scheme}"),
        format!("--screenshot={}", picture.display()),
    ];
    let run = opened(page, &flags);
    String::from_utf8_lossy(&run.stderr).into_owned()
}

/// Marks in the page which elements are wider than the space available to them.
const MEASURE: &str = "<script>
  const wide = [...document.querySelectorAll('SELECTOR')].filter(e => e.scrollWidth > e.clientWidth);
  document.title = 'cut: ' + wide.map(e => e.textContent.slice(0, 40)).join('; ') + '.';
</script></body>";

/// The elements that are cut off at this width, by their text.
fn cut(text: &str, selector: &str, width: u32) -> String {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("measured.html");
    let open = text.replace("Content-Security-Policy", "no-policy");
    let script = MEASURE.replace("SELECTOR", selector);
    std::fs::write(&path, open.replace("</body>", &script)).unwrap();
    let flags = [format!("--window-size={width},2000"), "--dump-dom".into()];
    let run = opened(&path, &flags);
    let dom = String::from_utf8_lossy(&run.stdout).into_owned();
    let (_, rest) = dom.split_once("<title>cut: ").expect("the script has run");
    rest.split_once(".</title>").unwrap().0.to_owned()
}

#[test]
#[ignore = "needs chromium; LEHR_CHROMIUM names it"]
fn long_bounds_and_wide_tables_have_room_in_the_browser() {
    let mut data = demo();
    let long = |mean| Some(Estimate { mean, se: 1.23 });
    (data.bound, data.evidence) = (long(-1_226_970.31), long(-1_226_968.17));
    for coefficient in &mut data.coefficients {
        coefficient.corrected = Some(coefficient.summary);
    }
    let text = render_page(&data);
    for width in [1000, 1400] {
        assert_eq!(cut(&text, ".side .table, .facts dd", width), "");
    }
    // Headless windows have a minimum width of 500; on a phone tables may scroll.
    assert_eq!(cut(&text, ".facts dd, .facts div, main", 500), "");
    let cramped = text.replace(
        ".beside { display: flex",
        ".beside { width: 300px; display: flex",
    );
    assert_ne!(
        cut(&cramped, ".side .table", 1000),
        "",
        "nothing is ever seen to be cut"
    );
}

#[test]
#[ignore = "needs chromium; LEHR_CHROMIUM names it"]
fn the_page_loads_without_console_messages_in_light_and_dark() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("report.html");
    write_page(&demo(), &path).unwrap();
    let mut pictures = Vec::new();
    for scheme in ["1", "0"] {
        let picture = place.path().join(format!("{scheme}.png"));
        let words = photographed(&path, &picture, scheme);
        assert!(!words.contains("CONSOLE"), "{words}");
        pictures.push(std::fs::read(&picture).unwrap());
    }
    assert!(pictures.iter().all(|picture| picture.len() > 100_000));
    assert_ne!(pictures[0], pictures[1], "dark looks like light");
}

#[test]
#[ignore = "needs chromium; LEHR_CHROMIUM names it"]
fn a_message_on_the_console_would_be_seen() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("broken.html");
    let broken = render_page(&demo()).replace("</body>", "<script>alert(1)</script></body>");
    std::fs::write(&path, broken).unwrap();
    let words = photographed(&path, &place.path().join("broken.png"), "1");
    assert!(
        words.contains("CONSOLE") && words.contains("Content Security Policy"),
        "{words}"
    );
}
