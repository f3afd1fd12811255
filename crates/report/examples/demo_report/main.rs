//! Writes a demonstration report from generated numbers: `demo_report [folder]`.

mod data;

use std::path::PathBuf;

use lehr_report::{InferenceData, ReportError, Style, write_page};

fn main() -> Result<(), ReportError> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    let data = data::demo();
    print!(
        "{}",
        Style::detect(&std::io::stdout()).format_summary(&data)
    );
    let page = folder.join("report.html");
    write_page(&data, &page)?;
    println!("\n{}", page.display());
    if let Some(draws) = &data.draws {
        let file = folder.join("draws.nc");
        let data = InferenceData::from_draws(draws)?.in_chains(4);
        let data = data.with_attribute("inference_library", "lehr");
        data.write(&file)?;
        println!("{}", file.display());
    }
    Ok(())
}
