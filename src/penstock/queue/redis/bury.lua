-- Claims end as dead letters. ARGV: the worker, then ids, URLs and reasons (objects in JSON).
local CLAIMED, WORKERS, LOSSES, DEAD, REASONS = unpack(KEYS)
local accepted, known = {}, is_known(WORKERS, ARGV[2])
local at = string.format('{"at":%.3f,', now / 1000000)
for n = 3, #ARGV, 3 do
  local is_ours, url = redis.call('HDEL', CLAIMED, ARGV[n]) == 1, ARGV[n + 1]
  if is_ours then
    redis.call('RPUSH', DEAD, url)
    redis.call('HSET', REASONS, url, at .. string.sub(ARGV[n + 2], 2))
    redis.call('HDEL', LOSSES, url)
  end
  accepted[#accepted + 1] = (is_ours or known) and 1 or 0
end
return accepted
