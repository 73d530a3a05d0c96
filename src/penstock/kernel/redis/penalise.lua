-- Slow a domain down, or hold it, for so many microseconds.
local penalty, ends = ARGV[2], now + ARGV[3]
open_ledger()
ends = math.max(ends, penalty == 'slow' and slow or hold)
close_ledger(ends - now, penalty, ends)
