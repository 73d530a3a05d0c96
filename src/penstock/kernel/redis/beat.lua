-- Tell that a process is there.
live(ARGV[2])
