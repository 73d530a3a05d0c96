-- Claims wait again: in the line of their group if it has one or they have to wait, else in the
-- list; in front ('LPUSH') or at the back ('RPUSH'). ARGV: the worker, then for each its id, URL,
-- group, where, delay, whether its group waits as long, and how often it was lost.
local LIST, CLAIMED, WORKERS, PARKED, LOSSES = unpack(KEYS)
local accepted, known = {}, is_known(WORKERS, ARGV[2])

local function put_back(url, group, push, delay, parks)
  local line, due = PARKED .. ':' .. group, redis.call('ZSCORE', PARKED, group)
  if not due and delay == 0 then return redis.call(push, LIST, url) end
  local at = math.max(now + delay, tonumber(due or 0))
  local is_alone = redis.call('EXISTS', line) == 0
  -- One that has to wait longer than the others of its group lets them go first.
  if delay > 0 and not parks then push = 'RPUSH' end
  redis.call(push, line, url)
  if not due or parks or is_alone then redis.call('ZADD', PARKED, at, group) end
end

for n = 3, #ARGV, 7 do
  local id, url, group, push, delay, parks, lost = unpack(ARGV, n, n + 6)
  local is_ours = redis.call('HDEL', CLAIMED, id) == 1
  if is_ours then
    put_back(url, group, push, tonumber(delay), parks == '1')
    if tonumber(lost) > 0 then know_loss(LOSSES, url, tonumber(lost), 0) end
  end
  accepted[#accepted + 1] = (is_ours or known) and 1 or 0
end
return accepted
