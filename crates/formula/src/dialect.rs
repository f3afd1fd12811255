//! Syntax of other formula languages, and what to write here instead.

/// Advice for a function of another language.
pub(crate) fn function_advice(name: &str) -> Option<&'static str> {
    let advice = match name {
        "factor" | "as.factor" | "ordered" | "cat" | "c" => "write C(x) for a categorical column",
        "ln" | "np.log" => "the natural logarithm is log(x)",
        "np.exp" => "write exp(x)",
        "np.sqrt" => "write sqrt(x)",
        "pow" | "power" | "square" => "write I(x^2)",
        "logit" | "qlogis" => "write I(log(x / (1 - x)))",
        "plogis" | "inv_logit" | "expit" => "write I(1 / (1 + exp(-x)))",
        "pmax" | "pmin" | "hinge" => {
            "write I((x > 0) * x) for what is above 0, I((x < 0) * x) below"
        }
        "standardize" | "zscore" | "z" => "write scale(x)",
        "cr" | "lo" | "tp" | "ps" | "cc" => "write s(x), a smooth function, as a term of its own",
        "te" | "ti" | "t2" => "write gp(x, z), a smooth surface, as a term of its own",
        "rcs" | "natural_spline" => "write ns(x, df = 3)",
        "relevel" => "write C(x, ref = \"level\")",
        "ifelse" | "if_else" => "write I(x > 3) for a column of 0 and 1",
        "cut" | "interaction" | "as.numeric" | "lag" | "lead" | "diff" | "rank" => {
            "make such a column in the table first"
        }
        "tan" => "write I(sin(x)/cos(x))",
        "round" => "write floor(x + 0.5)",
        "np.sin" => "write sin(x)",
        "np.cos" => "write cos(x)",
        "row" => "write (1 | row()) for an effect of each row",
        _ => return effect_advice(name),
    };
    Some(advice)
}

/// Advice for a function of another language that stands for random effects or for correlated rows.
fn effect_advice(name: &str) -> Option<&'static str> {
    let advice = match name {
        "us" | "re" | "random" | "Error" | "strata" | "cluster" | "frailty" | "fe" => {
            "write (1 | g) for effects by group, (1 + x | g) with slopes"
        }
        "diag" | "pdDiag" => "write (x || g) for independent effects",
        "cs" => {
            "effects that differ by class are not supported; --family categorical has \
             coefficients of each class, (x | g) effects by group"
        }
        "gr" | "mm" => "it stands right of |, as in (1 | gr(g))",
        "rate" | "se" | "thres" => "it belongs left of ~, after a |",
        "ar" | "ma" | "arma" | "ar1" | "ou" | "cosy" | "unstr" | "corAR1" => {
            "rows are independent given their effects: write gp(time), gp(time, by = g) or \
             s(time) for what changes in time, (1 | g) for rows of a group that are alike"
        }
        "car" | "sar" | "icar" | "bym" | "fcor" | "mrf" => {
            "there are no known neighbours or covariances: write gp(lon, lat) for what is alike \
             nearby, (1 | region) for effects of regions"
        }
        "autocor" | "set_nl" => "leave it out (lehr help formula)",
        _ => return None,
    };
    Some(advice)
}

/// The smooth function to write in place of a spline of another language, given the columns that it
/// names.
pub(crate) fn smooth_call(name: &str, columns: &[String]) -> Option<String> {
    let first = columns.first().map_or("x", String::as_str);
    let all = match columns {
        [first, second, ..] => format!("{first}, {second}"),
        _ => first.to_owned(),
    };
    match name {
        "cr" | "lo" | "tp" | "ps" => Some(format!("write s({first}) for a smooth function")),
        "cc" | "cp" => Some(format!("write s({first}, bs = \"cc\")")),
        "te" | "ti" | "t2" => Some(format!("write gp({all}) for a smooth surface")),
        _ => None,
    }
}

/// Advice for an addition term of brms, which follows a `|` left of `~`.
pub(crate) fn addition_advice(name: &str) -> Option<&'static str> {
    let advice = match name {
        "rate" => "write offset(log(n)) right of ~",
        "mi" => {
            "rows without a response are left out of the fit (--missing drop); predict them \
             afterwards, and write y | se(s) for a response with known errors"
        }
        "thres" => "the classes are those of the column: leave it out",
        "subset" => "make a table of those rows first",
        "resp_weights" => "write y | weights(w)",
        "resp_se" => "write y | se(s)",
        _ => return None,
    };
    Some(advice)
}

/// Advice for a call that cannot be a response.
pub(crate) fn response_advice(name: &str) -> &'static str {
    match name {
        "Surv" | "surv" => {
            "write time | cens(c) ~ ..., where c says none or right, with --family weibull, exponential or lognormal"
        }
        _ => "name a column, or a function of it such as log(y)",
    }
}

/// Advice for an argument of a grouping factor such as `gr(g, by = x)`.
pub(crate) fn grouping_argument(name: &str) -> &'static str {
    match name {
        "by" => "write (0 + x || g) for a spread of its own at each level of x",
        "cor" => "write (x || g) for independent effects, (x | g) for correlated ones",
        "cov" => "effects of groups whose covariance is known are not supported: write (1 | g)",
        "dist" => "effects of groups are normal: write (1 | g)",
        _ => "write (1 | g)",
    }
}

/// Advice for a grouping factor that is a call.
pub(crate) fn grouping_advice(name: &str) -> &'static str {
    match name {
        "mm" => {
            "a row belongs to one group of each grouping: write (1 | a) + (1 | b), whose columns \
             have effects of their own"
        }
        _ => "name the column alone; its values are the groups",
    }
}

/// Advice for a call around a whole formula.
pub(crate) fn wrapper_advice(name: &str) -> Option<&'static str> {
    let advice = match name {
        "lf" => PARAMETER,
        "nlf" => NONLINEAR,
        "mvbf" | "mvbrmsformula" => "write bf(y1 ~ x) + bf(y2 ~ z), or mvbind(y1, y2) ~ x",
        "brm" | "lm" | "glm" | "lmer" | "glmer" | "gam" | "glmmTMB" | "stan_glm" => {
            "write the formula alone, as in lehr fit 'y ~ x' table.csv"
        }
        _ => return None,
    };
    Some(advice)
}

/// Advice for arguments that follow the formula of a response inside `bf(...)`.
pub(crate) fn beside_advice(names: &[&str]) -> &'static str {
    if names.contains(&"nl") {
        NONLINEAR
    } else if names.contains(&"family") {
        "families are given in the order of the responses, as in --family gaussian,poisson"
    } else {
        PARAMETER
    }
}

const PARAMETER: &str = "write the formula alone, as in 'y ~ x', and that of a parameter as \
                         --formula 'sigma ~ z', of one of several responses as --formula \
                         'y1.sigma ~ z'";

const NONLINEAR: &str = "formulas are linear in what is learnt: write the model as a function in \
                         Python or Rust (docs/python.md)";

/// The name used here for a parameter of a family, or for a class of parameters, of another
/// language.
pub fn parameter_advice(name: &str) -> Option<&'static str> {
    match name {
        "zi" | "hu" => Some("gate"),
        "phi" => Some("precision"),
        "nu" => Some("df"),
        "b" | "beta" | "coef" => Some("weight"),
        "theta" | "size" => Some("shape"),
        _ => None,
    }
}
