"""Twelve classic analyses by lehr, by R and by NumPyro's NUTS on the same rows and priors."""
