"""What Penstock is used for; no workload imports another."""
