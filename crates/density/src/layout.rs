//! Named, shaped sites as one flat unconstrained vector, and back.

use std::ops::Range;
use std::sync::OnceLock;

use lehr_graph::reference::{InputValues, evaluate};
use lehr_graph::{Expr, Graph, MAX_SIZE, Shape};
use serde::{Deserialize, Serialize};

use crate::{LayoutError, Site, Support};

/// The order and the places of sites in one flat unconstrained vector.  Sites keep the order in
/// which they were named; each takes a contiguous range of the flat vector. Only the sites are
/// serialised; a layout is checked again after it is read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<Site>", into = "Vec<Site>")]
pub struct Layout {
    sites: Vec<Site>,
    ranges: Vec<Range<usize>>,
    /// The unconstrained numbers of every start that was declared, with the place of the first.
    declared: Vec<(usize, Vec<f64>)>,
    /// All starts, made when they are asked for: a layout read from damaged bytes may be of any size.
    starts: OnceLock<Vec<f64>>,
}

impl PartialEq for Layout {
    fn eq(&self, other: &Layout) -> bool {
        self.sites == other.sites
    }
}

/// The sites of a flat vector, as expressions on the constrained scale.
#[derive(Clone, Debug)]
pub struct ConstrainedSites<'g> {
    /// One value per site, in the layout's order.
    pub values: Vec<Expr<'g>>,
    /// ln |det| of the map from the flat vector, summed over sites.
    pub log_jacobian: Expr<'g>,
}

/// The draws of one site on the constrained scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteValue {
    /// The site's name.
    pub name: String,
    /// The dimensions of one draw.
    pub dims: Vec<usize>,
    /// Draw after draw, each in row-major order.
    pub values: Vec<f64>,
}

impl Layout {
    /// A layout of sites in this order. Refuses two sites of one name, a shape that does not
    /// end in its support's event and a start outside its support.
    pub fn new(sites: Vec<Site>) -> Result<Layout, LayoutError> {
        let mut layout = Layout::default();
        for site in sites {
            layout.push(site)?;
        }
        Ok(layout)
    }

    fn push(&mut self, site: Site) -> Result<(), LayoutError> {
        if self.position(&site.name).is_some() {
            return Err(LayoutError::Duplicate { name: site.name });
        }
        let wrong = |source| LayoutError::Support {
            name: site.name.clone(),
            source,
        };
        let shape = laid_out(&site)?;
        let first = self.size();
        let end = first + site.support.free_size_of(shape).map_err(wrong)?;
        if end > MAX_SIZE {
            return Err(LayoutError::Size {
                name: site.name,
                message: format!("expected at most {MAX_SIZE} numbers in all, found {end}"),
            });
        }
        if let Some(start) = &site.start {
            check_size(&site, start)?;
            let free = site.support.unconstrain_values(start).map_err(wrong)?;
            self.declared.push((first, free));
        }
        self.ranges.push(first..end);
        self.sites.push(site);
        Ok(())
    }

    /// The sites in order.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// True without a site.
    pub fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    /// The length of the flat unconstrained vector.
    pub fn size(&self) -> usize {
        self.ranges.last().map_or(0, |range| range.end)
    }

    /// The place of a site among the sites.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.sites.iter().position(|site| site.name == name)
    }

    /// The name of every number of the flat vector: its site and its place there; the name of the site alone if the
    /// site has another number of values.
    pub fn free_names(&self) -> Vec<String> {
        let names = |(site, range): (&Site, &Range<usize>)| {
            let names = site.entry_names();
            if names.len() == range.len() {
                return names;
            }
            vec![site.name.clone(); range.len()]
        };
        self.sites
            .iter()
            .zip(&self.ranges)
            .flat_map(names)
            .collect()
    }

    /// The part of the flat vector that the site at `position` takes.
    pub fn range(&self, position: usize) -> Range<usize> {
        self.ranges[position].clone()
    }

    /// The flat unconstrained vector of the declared starts; zero for sites without one.
    pub fn start(&self) -> &[f64] {
        self.starts.get_or_init(|| {
            let mut starts = vec![0.0; self.size()];
            for (first, free) in &self.declared {
                starts[*first..first + free.len()].copy_from_slice(free);
            }
            starts
        })
    }

    /// The site that owns the number at `place` of the flat vector.
    pub fn site_of(&self, place: usize) -> Option<&Site> {
        let position = self
            .ranges
            .iter()
            .position(|range| range.contains(&place))?;
        Some(&self.sites[position])
    }

    /// The name of every constrained number, site after site: `weight[3]`, `L[1,2]`.
    pub fn entry_names(&self) -> Vec<String> {
        self.sites.iter().flat_map(Site::entry_names).collect()
    }

    /// The sites of a flat vector of shape `[size]`, laned or not.
    pub fn constrain<'g>(&self, flat: Expr<'g>) -> ConstrainedSites<'g> {
        let mut sites = self.constrain_batch(flat);
        sites.log_jacobian = sites.log_jacobian.sum();
        sites
    }

    /// The sites of one flat vector per row, `[rows, size]`: each value has a leading axis of rows,
    /// and there is one log-Jacobian per row.
    pub fn constrain_rows<'g>(&self, flat: Expr<'g>) -> ConstrainedSites<'g> {
        self.constrain_batch(flat)
    }

    fn constrain_batch<'g>(&self, flat: Expr<'g>) -> ConstrainedSites<'g> {
        let shape = flat.shape();
        let axis = shape.rank() - 1;
        assert_eq!(
            shape.dims()[axis],
            self.size(),
            "a flat vector of this layout has {} numbers",
            self.size()
        );
        let batch = &shape.dims()[..axis];
        let mut log_jacobian = flat.graph().full(batch, 0.0);
        let mut values = Vec::with_capacity(self.sites.len());
        for (site, range) in self.sites.iter().zip(&self.ranges) {
            let free_shape =
                (site.support.free_shape(site.shape())).expect("checked when laid out");
            let free = flat.slice(axis, range.clone());
            let free = free.reshape(Shape::new(&[batch, free_shape.dims()].concat()));
            let constrained = site.support.constrain_values(free);
            values.push(constrained.value);
            log_jacobian = log_jacobian + sum_after(constrained.log_jacobian, axis);
        }
        ConstrainedSites {
            values,
            log_jacobian,
        }
    }

    /// The sites of flat vectors, one draw after another, each of `size` numbers.
    ///
    /// # Panics
    /// If `flat` is not a whole number of draws.
    pub fn constrain_values(&self, flat: &[f64]) -> Vec<SiteValue> {
        let draws = self.draws_in(flat);
        if self.is_empty() || draws == 0 {
            return self
                .sites
                .iter()
                .map(|site| name_values(site, vec![]))
                .collect();
        }
        let whole = |(site, range): (&Site, &Range<usize>)| {
            let free = flat
                .chunks_exact(self.size())
                .map(|draw| &draw[range.clone()]);
            let values = constrain_draws(site, free.flatten().copied().collect(), draws);
            // A value that does not depend on the draw (a simplex of one) is computed once.
            match draws * site.shape().size() / values.len().max(1) {
                1 => name_values(site, values),
                repeats => name_values(site, values.repeat(repeats)),
            }
        };
        self.sites.iter().zip(&self.ranges).map(whole).collect()
    }

    fn draws_in(&self, flat: &[f64]) -> usize {
        let size = self.size();
        let whole = flat.len().checked_rem(size).unwrap_or(flat.len());
        assert_eq!(whole, 0, "{} numbers are not draws of {size}", flat.len());
        flat.len().checked_div(size).unwrap_or(0)
    }
}

impl TryFrom<Vec<Site>> for Layout {
    type Error = LayoutError;

    fn try_from(sites: Vec<Site>) -> Result<Layout, LayoutError> {
        Layout::new(sites)
    }
}

impl From<Layout> for Vec<Site> {
    fn from(layout: Layout) -> Vec<Site> {
        layout.sites
    }
}

/// The values of one site, draw after draw. Values of a site on the real line are returned
/// unchanged.
fn constrain_draws(site: &Site, free: Vec<f64>, draws: usize) -> Vec<f64> {
    if site.support == Support::Real {
        return free;
    }
    let graph = Graph::new();
    let alone = Layout::new(vec![site.clone()]).expect("a site of a layout is one");
    let input = graph.laned_input("flat", [alone.size()]);
    let values = alone.constrain(input).values;
    let mut found = evaluate(&values, &InputValues::new().with(input, &free), draws);
    found.swap_remove(0)
}

fn name_values(site: &Site, values: Vec<f64>) -> SiteValue {
    SiteValue {
        name: site.name.clone(),
        dims: site.dims.clone(),
        values,
    }
}

/// The shape of a site whose numbers can be counted.
fn laid_out(site: &Site) -> Result<Shape, LayoutError> {
    let wrong = |message| LayoutError::Size {
        name: site.name.clone(),
        message,
    };
    let shape = Shape::try_from(site.dims.clone()).map_err(wrong)?;
    match shape.size() {
        0..=MAX_SIZE => Ok(shape),
        _ => Err(wrong(format!(
            "expected at most {MAX_SIZE} numbers, found shape {shape}"
        ))),
    }
}

fn check_size(site: &Site, values: &[f64]) -> Result<(), LayoutError> {
    let expected = site.shape().size();
    match values.len() {
        found if found == expected => Ok(()),
        found => Err(LayoutError::Length {
            name: site.name.clone(),
            expected,
            found,
        }),
    }
}

/// The sum over all axes from `axis` on.
fn sum_after(x: Expr<'_>, axis: usize) -> Expr<'_> {
    (axis..x.shape().rank()).fold(x, |sum, _| sum.sum_axis(axis))
}
