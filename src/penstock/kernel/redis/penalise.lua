-- Slow a domain down, or hold it, for so many microseconds. KEYS[5] has those that are slowed.
local penalty, ends = ARGV[2], now + ARGV[3]
open_ledger()
ends = math.max(ends, penalty == 'slow' and slow or hold)
close_ledger(ends - now, penalty, ends)
if penalty == 'slow' then
  redis.call('ZADD', KEYS[5], ends, ARGV[4])
  keep(KEYS[5], ends - now)
end
