"""NumPyro and lehr side by side: speed, memory, and the same bounds."""
