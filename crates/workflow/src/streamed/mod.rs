//! Regressions on Parquet files that stay on disk: full passes read them again on all threads, and
//! only a random sample of the rows is in memory. Nothing is copied.

mod distinct;
mod store;
mod table;

use std::sync::Arc;
use std::time::Instant;

use lehr_density::{Density, RowStore, WeightedModel};
use lehr_infer::condensed;
use lehr_infer::method::{MethodInfo, RowAccess, has_group_sums};
use lehr_infer::start::is_linear_without_hierarchy;
use lehr_learn::LearnError;
use lehr_model::Bound;
use lehr_regression::{Family, Regression, Specification};
use lehr_table::Part;

use crate::bound::{BoundRegression, RowsInFiles};
use crate::error::Error;
use crate::file_table::FileTable;
use crate::part::{PartPass, refuse_ordered_terms};
use distinct::CountedTable;
use store::{DistinctStore, ParquetStore};
use table::{PassResults, StreamedTable};

/// Row groups are combined into parts of at most this many rows, unless one alone has more. A
/// thread works on one part at a time.
const PART_ROWS: u64 = 1 << 18;

/// A table is streamed if its columns would need more than one in this many parts of the memory
/// available to them.
const SHARE: u64 = 4;

/// The conditions under which rows stay in files.
pub struct StreamOptions<'a> {
    /// The memory in bytes for the columns.
    pub memory: u64,
    /// The methods that will fit the model.
    pub methods: &'a [&'a MethodInfo],
    /// The number of rows to keep in memory, drawn at random.
    pub sample: usize,
    /// The largest number of distinct rows that are kept with their counts if that makes all
    /// further passes unnecessary.
    pub distinct: usize,
    /// The time at which reading began.
    pub clock: Instant,
}

impl StreamOptions<'_> {
    /// The usual number of rows in memory.
    pub const SAMPLE: usize = 1 << 16;
    /// The usual largest number of distinct rows that are kept.
    pub const DISTINCT: usize = 1 << 16;

    /// Whether group effects can be integrated out by means of sums over the rows.
    fn collapses(&self) -> bool {
        let mut methods = self.methods.iter();
        methods.all(|method| method.rows == RowAccess::GroupSums)
    }

    fn serves(&self, files: &FileTable<'_>) -> Result<bool, Error> {
        let mut methods = self.methods.iter();
        let suits = methods.all(|method| method.rows.is_by_passes());
        Ok(suits && files.source.expected_bytes(files.options)? > self.memory / SHARE)
    }
}

/// A model whose rows are in files.
pub(crate) struct ParquetModel {
    pub(crate) density: WeightedModel<Bound>,
    rows: Holder,
    /// The number of passes in which levels and scales were learned.
    learning: usize,
}

/// The store of all rows.
#[derive(Clone)]
enum Holder {
    /// Files that are read for every pass.
    Files(Arc<ParquetStore>),
    /// The distinct rows, if there are few.
    Distinct(Arc<DistinctStore>),
}

impl Holder {
    fn new(regression: &Regression, seen: &PassResults, files: Files<'_>) -> Result<Holder, Error> {
        if let Some(CountedTable { table, counts }) = &seen.distinct {
            let counts = counts.iter().map(|count| *count as f64).collect();
            let model = WeightedModel::of_distinct(regression.bind(table)?, counts);
            return Ok(Holder::Distinct(Arc::new(DistinctStore::new(model))));
        }
        let pass = PartPass::new(regression.clone(), files.model.clone())?;
        let rows = ParquetStore::new((files.parts, files.table.options.clone()), pass);
        Ok(Holder::Files(Arc::new(rows)))
    }

    fn shared(&self) -> Arc<dyn RowStore> {
        match self {
            Holder::Files(rows) => rows.clone(),
            Holder::Distinct(rows) => rows.clone(),
        }
    }
}

/// Files, the parts in which they are read, and the model on a sample of the rows.
struct Files<'a> {
    table: &'a FileTable<'a>,
    parts: Vec<Part>,
    model: &'a Bound,
}

impl RowsInFiles for ParquetModel {
    fn density(&self) -> &dyn Density {
        &self.density
    }

    /// The expected number of passes of a fit: those of the search for the mode, those for the
    /// curvature, with a few directions at a time, and one for the bound.
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
        let passes = if condensed::applies(density) || has_group_sums(density) {
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
    /// Builds the model on Parquet files and keeps only a random sample of the rows: fits read the
    /// files in a few passes. Returns `None` if streaming is not possible or not useful: for small
    /// tables, other file formats, other methods, group effects with a response that is not
    /// gaussian, smooth terms, local latents, and other standard deviations among the latents.
    ///
    /// # Errors
    /// If the files cannot be read, or do not suit the formula.
    pub fn streamed(
        specification: &Specification,
        files: &FileTable<'_>,
        streaming: &StreamOptions<'_>,
    ) -> Result<Option<BoundRegression>, Error> {
        let Some(terms) = specification.only_terms() else {
            return Ok(None);
        };
        let has_groups = terms.all_groups().next().is_some();
        let may_be_normal =
            (specification.only_family()).is_none_or(|family| family == Family::Gaussian);
        if !streaming.serves(files)?
            || refuse_ordered_terms(terms).is_err()
            || has_groups && !may_be_normal
        {
            return Ok(None);
        }
        let parts = files.source.split_parts(PART_ROWS).unwrap_or_default();
        if parts.is_empty() {
            return Ok(None);
        }
        // Rows with groups are mostly distinct, and sums by group need no further pass.
        let distinct = if has_groups { 0 } else { streaming.distinct };
        let table = StreamedTable::new(files, &parts, (streaming.sample, distinct));
        let regression = specification.learn(&table)?;
        let seen = table.seen.into_inner();
        let Some(streamed) = streamed(&regression, &seen, (files, parts.clone()))? else {
            return Ok(None);
        };
        let density = &streamed.density;
        let serves = is_linear_without_hierarchy(density)
            || condensed::applies(density)
            || streaming.collapses() && has_group_sums(density);
        if !serves {
            return Ok(None);
        }
        let own = (regression, streamed.density.model().clone());
        let rows = words(&streamed, parts.len());
        Ok(Some(BoundRegression {
            dropped_rows: seen.dropped,
            streamed: Some(Box::new(streamed)),
            ..BoundRegression::of_one(specification, own, rows, streaming.clock)
        }))
    }
}

fn words(streamed: &ParquetModel, parts: usize) -> String {
    let (here, total) = (streamed.density.n_rows(), streamed.density.total_rows());
    if let Holder::Distinct(rows) = &streamed.rows {
        let different = rows.n_rows();
        return format!(
            "{total} in the files, {different} different ones, each in memory with its count"
        );
    }
    format!("{total} in the files, in {parts} parts; a sample of {here} in memory")
}

/// The model on a sample of the rows, with the store of all rows.
fn streamed(
    regression: &Regression,
    seen: &PassResults,
    (files, parts): (&FileTable<'_>, Vec<Part>),
) -> Result<Option<ParquetModel>, Error> {
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
    Ok(Some(ParquetModel {
        density: WeightedModel::of_sample(bound, seen.rows as usize, rows.shared()),
        rows,
        learning: seen.passes,
    }))
}
