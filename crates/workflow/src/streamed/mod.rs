//! Regressions of Parquet files that stay where they are: full passes read them anew, on all threads, and a
//! random sample of the rows is in memory. Nothing is copied.

mod distinct;
mod pass;
mod rows;
mod table;

use std::sync::Arc;
use std::time::Instant;

use lehr_density::{Counted, Density, Elsewhere, RowStore};
use lehr_infer::condensed;
use lehr_infer::method::elsewhere;
use lehr_infer::start::is_plain;
use lehr_learn::LearnError;
use lehr_model::Bound;
use lehr_regression::{Family, Regression, Specification};
use lehr_table::Part;

use crate::bound::{BoundRegression, RowsInFiles};
use crate::cluster::check;
use crate::error::Error;
use crate::file_table::FileTable;
use crate::fitted_model::Subject;
use distinct::CountedTable;
pub(crate) use pass::RowPass;
use rows::{DistinctRows, StreamedRows};
use table::{Seen, StreamedTable};

/// Row groups are gathered to parts of at most so many rows, unless one alone has more: what a thread
/// takes on at once.
const PART_ROWS: u64 = 1 << 18;

/// A table is streamed where its columns would take more than this share of the memory that they may take.
const SHARE: u64 = 4;

/// What decides whether rows stay in files.
pub struct Streaming<'a> {
    /// The memory in bytes for the columns.
    pub memory: u64,
    /// The methods that will fit the model.
    pub methods: &'a [&'a str],
    /// Rows that are to be in memory, drawn at random.
    pub sample: usize,
    /// Different rows at the most that are kept, with their counts, where that spares all further passes.
    pub distinct: usize,
    /// When the reading began.
    pub clock: Instant,
}

impl Streaming<'_> {
    /// Rows that are usually in memory.
    pub const SAMPLE: usize = 1 << 16;
    /// Different rows that are usually kept at the most.
    pub const DISTINCT: usize = 1 << 16;

    /// Whether effects by group can be integrated out from sums over the rows.
    fn collapses(&self) -> bool {
        let mut methods = self.methods.iter();
        methods.all(|method| elsewhere::COLLAPSING.contains(method))
    }

    fn serves(&self, files: &FileTable<'_>) -> Result<bool, Error> {
        let mut methods = self.methods.iter();
        let suits = methods.all(|method| elsewhere::METHODS.contains(method));
        Ok(suits && files.source.expected_bytes(files.options)? > self.memory / SHARE)
    }
}

/// Rows that are in files, as a fit sees them.
pub(crate) struct Streamed {
    pub(crate) density: Elsewhere<Bound>,
    rows: Holder,
    /// Passes that it took to learn levels and scales.
    learning: usize,
}

/// Who knows all rows.
#[derive(Clone)]
enum Holder {
    /// Files that are read for every pass.
    Files(Arc<StreamedRows>),
    /// The different ones, which are few.
    Distinct(Arc<DistinctRows>),
}

impl Holder {
    fn new(regression: &Regression, seen: &Seen, files: Files<'_>) -> Result<Holder, Error> {
        if let Some(CountedTable { table, counts }) = &seen.distinct {
            let counts = counts.iter().map(|count| *count as f64).collect();
            let model = Counted::new(regression.bind(table)?, counts);
            return Ok(Holder::Distinct(Arc::new(DistinctRows::new(model))));
        }
        let pass = RowPass::new(regression.clone(), files.model.clone())?;
        let rows = StreamedRows::new((files.parts, files.table.options.clone()), pass);
        Ok(Holder::Files(Arc::new(rows)))
    }

    fn shared(&self) -> Arc<dyn RowStore> {
        match self {
            Holder::Files(rows) => rows.clone(),
            Holder::Distinct(rows) => rows.clone(),
        }
    }
}

/// Files, what is read of them at a time, and the model on some of their rows.
struct Files<'a> {
    table: &'a FileTable<'a>,
    parts: Vec<Part>,
    model: &'a Bound,
}

impl RowsInFiles for Streamed {
    fn density(&self) -> &dyn Density {
        &self.density
    }

    /// How many passes a fit is about to take: those of the search for the mode, a few directions of the
    /// curvature at a time, and one for the bound.
    fn ahead(&self) -> String {
        const SEARCH: usize = 4;
        const DIRECTIONS: usize = 16;
        let density = &self.density;
        let (rows, latents) = (density.total_rows(), density.latents().size());
        if let Holder::Distinct(kept) = &self.rows {
            let different = kept.n_rows();
            return format!(
                "rows: {rows} in the files, {different} different ones in memory with their \
                 counts; the fit takes no further pass"
            );
        }
        let passes = if condensed::applies(density) || elsewhere::collapses(density) {
            "one pass".to_owned()
        } else {
            let passes = SEARCH + latents.div_ceil(DIRECTIONS) + 1;
            format!("about {passes} passes")
        };
        let here = density.n_rows();
        format!(
            "rows: {rows} stay in the files, {here} of them in memory; the fit takes {passes} over all"
        )
    }

    /// The passes over all rows so far.
    fn words(&self) -> String {
        let rest = match &self.rows {
            Holder::Files(rows) => rows.passes(),
            Holder::Distinct(_) => 0,
        };
        let learning = self.learning;
        format!(
            "{} over all rows: {learning} to learn from, {rest} to fit",
            learning + rest
        )
    }
}

impl BoundRegression {
    /// Makes the model of Parquet files of which no row is kept but a random sample: fits go over the
    /// files in a few passes. `None` where that does not serve: small tables, files of another format,
    /// other methods, effects by group unless the response is gaussian, smooth terms, latents of single rows, other
    /// spreads among the latents.
    ///
    /// # Errors
    /// If the files cannot be read, or are not what the formula takes them for.
    pub fn streamed(
        specification: &Specification,
        files: &FileTable<'_>,
        streaming: &Streaming<'_>,
    ) -> Result<Option<BoundRegression>, Error> {
        let Some(terms) = specification.only_terms() else {
            return Ok(None);
        };
        let has_groups = terms.all_groups().next().is_some();
        let may_be_normal =
            (specification.only_family()).is_none_or(|family| family == Family::Gaussian);
        if !streaming.serves(files)? || check(terms).is_err() || has_groups && !may_be_normal {
            return Ok(None);
        }
        let Ok(parts) = files.source.split_parts(PART_ROWS) else {
            return Ok(None);
        };
        if parts.is_empty() {
            return Ok(None);
        }
        // Rows of different groups differ, and sums by group need no further pass.
        let distinct = if has_groups { 0 } else { streaming.distinct };
        let table = StreamedTable::new(files, &parts, (streaming.sample, distinct));
        let regression = specification.learn(&table)?;
        let seen = table.into_seen();
        let Some(streamed) = streamed(&regression, &seen, (files, parts.clone()))? else {
            return Ok(None);
        };
        let density = &streamed.density;
        let serves = is_plain(density)
            || condensed::applies(density)
            || streaming.collapses() && elsewhere::collapses(density);
        if !serves {
            return Ok(None);
        }
        let subject = Subject::Regression(Box::new(regression));
        let mut choices = specification.choices(&subject.regressions());
        choices.push(("rows".into(), words(&streamed, parts.len())));
        Ok(Some(BoundRegression {
            bound: streamed.density.sample().clone(),
            subject,
            singles: Vec::new(),
            choices,
            read_seconds: streaming.clock.elapsed().as_secs_f64(),
            dropped_rows: seen.dropped,
            is_on_disk: false,
            streamed: Some(Box::new(streamed)),
        }))
    }
}

fn words(streamed: &Streamed, parts: usize) -> String {
    let (here, total) = (streamed.density.n_rows(), streamed.density.total_rows());
    if let Holder::Distinct(rows) = &streamed.rows {
        let different = rows.n_rows();
        return format!(
            "{total} in the files, {different} different ones, each in memory with its count"
        );
    }
    format!("{total} in the files, in {parts} parts; a sample of {here} in memory")
}

/// The model on a sample of the rows, and where all of them are.
fn streamed(
    regression: &Regression,
    seen: &Seen,
    (files, parts): (&FileTable<'_>, Vec<Part>),
) -> Result<Option<Streamed>, Error> {
    let sample = seen.sample.as_ref().filter(|sample| sample.n_rows() > 0);
    let sample = sample.ok_or(LearnError::NoRows)?;
    let bound = regression.bind(sample)?;
    if bound.locals().is_some() {
        return Ok(None);
    }
    let files = Files {
        table: files,
        parts,
        model: &bound,
    };
    let rows = Holder::new(regression, seen, files)?;
    Ok(Some(Streamed {
        density: Elsewhere::new(bound, seen.rows as usize, rows.shared()),
        rows,
        learning: seen.passes,
    }))
}
