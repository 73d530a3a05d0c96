"""Product facts that workloads share: sources, source products, prices, canonical products."""
