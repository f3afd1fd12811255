//! The common methods of distributions of single numbers.

use lehr_graph::Expr;

/// The methods of [`super::Distribution`] that follow from the fields: shape, parameters and check, and the
/// outcome where no field decides it. Each field is followed by its domain in `ParameterCheck`. With
/// `derived` the parameters of the family are not the fields themselves.
macro_rules! elementwise {
    ($family:expr, $kind:expr, $support:expr, $($field:ident: $domain:ident),+ $(,)?) => {
        fn outcome(&self) -> $crate::distribution::Outcome {
            $crate::distribution::Outcome::new(&$family, $kind, $support)
        }

        $crate::distribution::elementwise::elementwise!($($field: $domain),+);
    };

    ($($field:ident: $domain:ident),+ $(,)?) => {
        $crate::distribution::elementwise::elementwise!(derived $($field: $domain),+);

        fn named_parameters(
            &self,
            graph: &'g lehr_graph::Graph,
        ) -> Vec<(&'static str, lehr_graph::Expr<'g>)> {
            let named = [$((stringify!($field), &self.$field)),+];
            $crate::distribution::value::spread_values(graph, self.value_shape(), named)
        }
    };

    (derived $($field:ident: $domain:ident),+ $(,)?) => {
        fn value_shape(&self) -> lehr_graph::Shape {
            $crate::distribution::value::joint_shape(&[$(self.$field.shape()),+])
        }

        fn check_parameters(&self) -> Result<(), $crate::distribution::ParameterError> {
            $crate::distribution::check::ParameterCheck::for_distribution(self.name())
                $(.$domain(stringify!($field), &self.$field))+
                .into_result()
        }
    };
}

/// A distribution of these values and nothing else: the type, and the function that makes it.
macro_rules! of_values {
    ($(#[$about:meta])* $name:ident, $(#[$how:meta])* $make:ident($($field:ident),+)) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub struct $name<'g> {
            $($field: $crate::distribution::Value<'g>,)+
        }

        impl<'g> $name<'g> {
            $(#[$how])*
            pub fn $make($($field: impl Into<$crate::distribution::Value<'g>>),+) -> Self {
                $name { $($field: $field.into()),+ }
            }
        }
    };
}

pub(super) use {elementwise, of_values};

/// A moment that exists if `condition` holds: `None` if the condition is known to fail, NaN if it
/// turns out to fail in a run.
pub(super) fn defined<'g>(condition: Expr<'g>, moment: Expr<'g>) -> Option<Expr<'g>> {
    match condition.as_number() {
        Some(0.0) => None,
        Some(_) => Some(moment),
        None => Some(condition.select(moment, moment.graph().scalar(f64::NAN))),
    }
}
