"""Live pages under attack: browsers, processes, the store, the network and the pages fail."""
