//! The page in a real browser.

use std::path::Path;
use std::process::Command;

use lehr_report::{page, write_page};

use crate::demo::demo;

const FLAGS: [&str; 11] = [
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
    "--window-size=1280,5000",
];

/// Takes a picture of a page and gives back what the browser had to say.
fn photographed(page: &Path, picture: &Path, scheme: &str) -> String {
    let profile = tempfile::tempdir().unwrap();
    let browser = std::env::var("LEHR_CHROMIUM").unwrap_or_else(|_| "chromium".into());
    let run = Command::new(browser)
        .args(FLAGS)
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg(format!("--screenshot={}", picture.display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    String::from_utf8_lossy(&run.stderr).into_owned()
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
    let broken = page(&demo()).replace("</body>", "<script>alert(1)</script></body>");
    std::fs::write(&path, broken).unwrap();
    let words = photographed(&path, &place.path().join("broken.png"), "1");
    assert!(
        words.contains("CONSOLE") && words.contains("Content Security Policy"),
        "{words}"
    );
}
