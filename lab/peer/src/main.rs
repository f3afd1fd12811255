//! lehr's side of the comparison with NumPyro: one line of JSON in, one line out.
//!
//! The process keeps running, so that its blocks of steps can be timed alternately with those of
//! the other side. The number of threads is its only argument.

mod case;
mod chains;
mod cold;
mod local;
mod logistic;
mod process;
mod session;

use std::io::{BufRead, Write};

use anyhow::{Context, Result};
use serde_json::json;

use session::{Request, Session};

fn main() -> Result<()> {
    let threads = std::env::args().nth(1).unwrap_or_else(|| "1".into());
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.parse().context("threads: expected a number")?)
        .build()?;
    let mut session = Session::default();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let answer = pool
            .install(|| answer(&mut session, &line))
            .unwrap_or_else(|error| json!({ "error": format!("{error:#}") }));
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(session: &mut Session, line: &str) -> Result<serde_json::Value> {
    let request: Request = serde_json::from_str(line).context("request")?;
    session.answer(request)
}
