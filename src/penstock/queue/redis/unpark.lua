-- What is wanted of groups that are due becomes the worker's; a group that gave it rests.
-- {url, loss, group's number, ...}; ARGV: the worker, the number of groups, for each its name, how
-- many are wanted and its rest; then ids, as many as may be taken in all.
local CLAIMED, WORKERS, PARKED, LOSSES = unpack(KEYS)
local worker, number = ARGV[2], tonumber(ARGV[3])
if not is_known(WORKERS, worker) then return {} end

local function rest_of(group, line, has_given, rest)
  if has_given and (rest > 0 or redis.call('EXISTS', line) == 1) then
    redis.call('ZADD', PARKED, now + rest, group)
  elseif redis.call('EXISTS', line) == 1 then
    redis.call('ZADD', PARKED, now, group)
  else
    redis.call('ZREM', PARKED, group)
  end
end

local found, next_id = {}, 4 + 3 * number
for n = 0, number - 1 do
  local group, wanted, rest = unpack(ARGV, 4 + 3 * n, 6 + 3 * n)
  local due = redis.call('ZSCORE', PARKED, group)
  if due and tonumber(due) <= now then
    local line, most = PARKED .. ':' .. group, tonumber(wanted)
    local last = math.min(most, #ARGV - next_id + 1) - 1
    local urls = last >= 0 and redis.call('LRANGE', line, 0, last) or {}
    redis.call('LTRIM', line, #urls, -1)
    local losses = known_losses(LOSSES, urls)
    for i, url in ipairs(urls) do
      hold(CLAIMED, ARGV[next_id], url, losses[i])
      found[#found + 1] = { ARGV[next_id], url, losses[i] or '', n }
      next_id = next_id + 1
    end
    rest_of(group, line, #urls >= most, tonumber(rest))
  end
end
return found
