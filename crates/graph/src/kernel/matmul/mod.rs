//! Matrix products: thin ones by the kernels of this crate, large ones by faer.
//!
//! Training spends its time in thin products (a data block times a few lanes). General libraries
//! spend more time there on packing and dispatch than on multiplication.

mod column;
mod few;
mod panel;
mod thin;
mod turned;

use faer::linalg::matmul::matmul as faer_matmul;
use faer::{Accum, MatMut, MatRef, Par};
use pulp::Simd;

use super::frame::BlockFrame;
use super::vector::line_place;
use crate::instruction::{Extent, Mat, Products, Space, Write};

/// A matrix in memory: entry (i, j) is at `i · row + j · col`.
#[derive(Clone, Copy)]
struct MatrixView {
    at: *mut f64,
    row: usize,
    col: usize,
    /// Whether the matrix is streamed from far memory, so that rows are prefetched. If the rows are
    /// in the cache already, prefetching would cost a fifth of the product.
    far: bool,
}

impl MatrixView {
    #[inline(always)]
    fn transposed(self) -> MatrixView {
        MatrixView {
            row: self.col,
            col: self.row,
            ..self
        }
    }

    #[inline(always)]
    unsafe fn entry(self, i: usize, j: usize) -> *mut f64 {
        // SAFETY: the caller stays within the matrix.
        unsafe {
            self.at
                .add(line_place(i, self.row, line_place(j, self.col, 0)))
        }
    }

    /// The part from row `i` and column `j` on.
    #[inline(always)]
    unsafe fn from(self, i: usize, j: usize) -> MatrixView {
        // SAFETY: the caller stays within the matrix.
        let at = unsafe { self.entry(i, j) };
        MatrixView { at, ..self }
    }
}

/// C = A B, or C += A B, with A of `m×k` and B of `k×n`.
///
/// The code that makes a product guarantees that the views are valid for these shapes and that C
/// overlaps neither A nor B. All functions of a product rely on that.
#[derive(Clone, Copy)]
struct Product {
    m: usize,
    n: usize,
    k: usize,
    a: MatrixView,
    b: MatrixView,
    c: MatrixView,
    write: Write,
}

impl Product {
    /// Cᵀ = Bᵀ Aᵀ
    #[inline(always)]
    fn transposed(self) -> Product {
        Product {
            m: self.n,
            n: self.m,
            a: self.b.transposed(),
            b: self.a.transposed(),
            c: self.c.transposed(),
            ..self
        }
    }

    /// The part of the product from row `i` of C on.
    #[inline(always)]
    unsafe fn after_rows(self, i: usize) -> Product {
        // SAFETY: the caller has `i ≤ m`.
        unsafe {
            Product {
                m: self.m - i,
                a: self.a.from(i, 0),
                c: self.c.from(i, 0),
                ..self
            }
        }
    }

    /// The part of the product from column `j` of C on.
    #[inline(always)]
    unsafe fn after_columns(self, j: usize) -> Product {
        // SAFETY: the caller has `j ≤ n`.
        unsafe {
            Product {
                n: self.n - j,
                b: self.b.from(0, j),
                c: self.c.from(0, j),
                ..self
            }
        }
    }
}

/// How many rows ahead memory is prefetched.
const AHEAD: usize = 16;

/// Products at least this large in every dimension go to faer.
const LARGE: usize = 24;

/// A batch of products; a result that all of them share collects their sum.
///
/// # Safety
/// The products must belong to the frame's plan.
#[inline(always)]
pub(super) unsafe fn multiply_lanes<S: Simd>(simd: S, frame: &BlockFrame, all: &Products) {
    let [m, n, k] = all.dims.map(|d| frame.extent_count(d));
    let view = |mat: &Mat| MatrixView {
        // SAFETY: addresses come from the planner.
        at: unsafe { frame.pointer_at(mat.at) },
        row: frame.extent_count(mat.row),
        col: frame.extent_count(mat.col),
        far: matches!(mat.at.space, Space::Lent(_)) && mat.at.per_block > 0,
    };
    let (a, b, c) = (view(&all.a), view(&all.b), view(&all.c));
    let write = all.write;
    let mut one = Product {
        m,
        n,
        k,
        a,
        b,
        c,
        write,
    };
    for _ in 0..frame.extent_count(all.batch) {
        // Opaque to the compiler. Otherwise it computes, before the batch begins, the strides that
        // each of forty loops below might need: 150 cycles, half of a product of a few rows.
        let p = std::hint::black_box(one);
        // SAFETY: the planner keeps results apart from operands.
        unsafe { multiply_matrices(simd, p) };
        for (view, mat) in [
            (&mut one.a, &all.a),
            (&mut one.b, &all.b),
            (&mut one.c, &all.c),
        ] {
            view.at = view.at.wrapping_add(frame.extent_count(mat.batch));
        }
        if all.c.batch == Extent::ZERO {
            one.write = Write::Accumulate;
        }
    }
}

#[inline(always)]
unsafe fn multiply_matrices<S: Simd>(simd: S, p: Product) {
    // SAFETY: the same product, dispatched by its shape.
    unsafe {
        if p.n == 1 {
            column::multiply_column(simd, p);
        } else if p.m == 1 {
            column::multiply_column(simd, p.transposed());
        } else if p.m >= LARGE && p.n >= LARGE && p.k >= LARGE {
            multiply_large(p);
        } else {
            thin::multiply_thin(simd, if p.c.col == 1 { p } else { p.transposed() });
        }
    }
}

unsafe fn multiply_large(
    Product {
        m,
        n,
        k,
        a,
        b,
        c,
        write,
    }: Product,
) {
    let accumulate = match write {
        Write::Replace => Accum::Replace,
        Write::Accumulate => Accum::Add,
    };
    // SAFETY: valid for these shapes; C overlaps neither operand.
    unsafe {
        let a = MatRef::from_raw_parts(a.at.cast_const(), m, k, a.row as isize, a.col as isize);
        let b = MatRef::from_raw_parts(b.at.cast_const(), k, n, b.row as isize, b.col as isize);
        let c = MatMut::from_raw_parts_mut(c.at, m, n, c.row as isize, c.col as isize);
        faer_matmul(c, accumulate, a, b, 1.0, Par::Seq);
    }
}

#[inline(always)]
unsafe fn write_value(to: *mut f64, value: f64, write: Write) {
    // SAFETY: by the caller.
    unsafe {
        match write {
            Write::Replace => *to = value,
            Write::Accumulate => *to += value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::SimdLevel;
    use pulp::WithSimd;

    /// The memory order of a matrix.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Order {
        Rows,
        Columns,
    }

    const ORDERS: [Order; 2] = [Order::Rows, Order::Columns];

    struct Case {
        dims: [usize; 3],
        orders: [Order; 3],
        write: Write,
    }

    fn view(numbers: &mut [f64], (rows, columns): (usize, usize), order: Order) -> MatrixView {
        let (row, col) = match order {
            Order::Rows => (columns, 1),
            Order::Columns => (1, rows),
        };
        MatrixView {
            at: numbers.as_mut_ptr(),
            row,
            col,
            far: false,
        }
    }

    /// The largest distance of an entry of C from the result of plain loops.
    impl WithSimd for &Case {
        type Output = f64;

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> f64 {
            let [m, n, k] = self.dims;
            let shapes = [(m, k), (k, n), (m, n)];
            let mut memory = shapes.map(|(rows, columns)| -> Vec<f64> {
                (0..rows * columns)
                    .map(|i| (1.3 * i as f64).sin())
                    .collect()
            });
            let mut views = memory.iter_mut().zip(shapes).zip(self.orders);
            let mut next = || {
                views
                    .next()
                    .map(|((own, shape), order)| view(own, shape, order))
            };
            let [a, b, c] = [next(), next(), next()].map(|view| view.expect("three of them"));
            let (before, write) = (memory[2].clone(), self.write);
            let p = Product {
                m,
                n,
                k,
                a,
                b,
                c,
                write,
            };
            // SAFETY: entries of three arrays of these shapes.
            unsafe {
                multiply_matrices(simd, p);
                let far = |i: usize, j: usize| {
                    let start = match self.write {
                        Write::Replace => 0.0,
                        Write::Accumulate => before[i * c.row + j * c.col],
                    };
                    let sum: f64 = (0..k).map(|l| *a.entry(i, l) * *b.entry(l, j)).sum();
                    (*c.entry(i, j) - start - sum).abs()
                };
                (0..m * n).map(|e| far(e / n, e % n)).fold(0.0, f64::max)
            }
        }
    }

    #[test]
    fn products_of_every_shape_and_order_are_those_of_plain_loops_on_every_level() {
        let sizes = [1, 2, 3, 5, 8, 13, 17, 29, 40, 300];
        let shapes = sizes.iter().flat_map(|&m| sizes.map(|n| (m, n)));
        let shapes: Vec<[usize; 3]> = shapes
            .flat_map(|(m, n)| [1, 2, 7, 16, 41].map(|k| [m, n, k]))
            .filter(|[m, n, _]| m * n <= 8000)
            .collect();
        let levels: Vec<_> = SimdLevel::all()
            .into_iter()
            .filter_map(SimdLevel::arch)
            .collect();
        for (dims, which) in shapes
            .into_iter()
            .flat_map(|dims| (0..16).map(move |w| (dims, w)))
        {
            let case = Case {
                dims,
                orders: [0, 1, 2].map(|bit| ORDERS[which >> bit & 1]),
                write: [Write::Replace, Write::Accumulate][which >> 3],
            };
            for arch in &levels {
                let far = arch.dispatch(&case);
                assert!(far < 1e-12, "{arch:?} {dims:?} {:?}: {far:e}", case.orders);
            }
        }
    }
}
