# Stan's sampler on one posterior: one chain, draws written as the other sides write theirs.
#
#   Rscript stan.R QUESTION.json        answers with one line of JSON
suppressPackageStartupMessages(library(rstan))
# Debian's R finds Boost among the headers of the system.
if (!nzchar(rstan_options("boost_lib"))) rstan_options(boost_lib = "/usr/include")
asked <- jsonlite::fromJSON(commandArgs(TRUE)[1])

programs <- list(
  logistic = "
data { int n; int d; matrix[n, d] x; int<lower=0, upper=1> y[n]; }
parameters { vector[d] w; }
model { w ~ normal(0, 1); y ~ bernoulli_logit_glm(x, 0.0, w); }",
  hierarchy = "
data { int n; int groups; vector[n] y; int group[n]; }
parameters { real mu; real<lower=0> spread; real<lower=0> noise; vector[groups] effect; }
model {
  mu ~ normal(0, 1); spread ~ normal(0, 1); noise ~ normal(0, 1);
  effect ~ normal(mu, spread); y ~ normal(effect[group], noise);
}",
  funnel = "
data { int k; }
parameters { real v; vector[k] x; }
model { v ~ normal(0, 3); x ~ normal(0, exp(0.5 * v)); }"
)

doubles <- function(path, count) readBin(path, "double", count, size = 8, endian = "little")
data <- switch(asked$name,
  logistic = {
    flat <- doubles(asked$path, asked$rows * (asked$columns + 1))
    cut <- asked$rows * asked$columns
    list(n = asked$rows, d = asked$columns, x = matrix(flat[1:cut], asked$rows, byrow = TRUE), y = flat[-(1:cut)])
  },
  hierarchy = {
    y <- doubles(asked$path, 1e7)
    list(n = length(y), groups = asked$groups, y = y, group = (seq_along(y) - 1) %% asked$groups + 1)
  },
  funnel = list(k = asked$size)
)
compiled <- stan_model(model_code = programs[[asked$name]])
# What constrains the scales of the hierarchy: the estimator judges unconstrained numbers, as of the other sides.
positive <- list(hierarchy = 2:3)[[asked$name]]

spent <- proc.time()
control <- list(metric = if (asked$name == "logistic") "dense_e" else "diag_e")
fit <- sampling(compiled, data,
  chains = 1, warmup = asked$warm_up, iter = asked$warm_up + asked$draws, seed = 1, refresh = 0, control = control
)
spent <- sum((proc.time() - spent)[c("user.self", "sys.self")])
clock <- get_elapsed_time(fit)
shown <- as.matrix(fit)
shown <- shown[, colnames(shown) != "lp__", drop = FALSE]
own <- shown
own[, positive] <- log(own[, positive])
writeBin(as.vector(t(own)), asked$draws_path, size = 8, endian = "little")
leapfrogs <- get_sampler_params(fit, inc_warmup = FALSE)[[1]][, "n_leapfrog__"]
cat(jsonlite::toJSON(list(
  warm_up_seconds = spent * clock[1] / sum(clock), seconds = spent * clock[2] / sum(clock),
  draws = nrow(own), size = ncol(own), gradients = sum(leapfrogs),
  mean = colMeans(shown), sd = apply(shown, 2, sd)
), auto_unbox = TRUE, digits = NA), "\n")
