"""Ten models in the languages of NumPyro and of lehr, fitted by both to the same rows."""
