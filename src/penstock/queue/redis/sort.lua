-- Of what was taken from the head, a worker keeps what is wanted; the rest stands in the lines of
-- its groups. A group that has a line gives nothing: its new URLs stand behind the others.
-- ARGV: for each group its name, how many are wanted, its rest, how many there are, and their ids.
local CLAIMED, PARKED = unpack(KEYS)
local kept = {}

local function move_on(line, first, last)
  local urls = {}
  for n = first, last do
    local claim = redis.call('HGET', CLAIMED, ARGV[n])
    if claim then
      urls[#urls + 1] = cjson.decode(claim).url
      redis.call('HDEL', CLAIMED, ARGV[n])
    end
  end
  if #urls > 0 then redis.call('RPUSH', line, unpack(urls)) end
end

local n = 2
while n < #ARGV do
  local group, wanted, rest = ARGV[n], tonumber(ARGV[n + 1]), tonumber(ARGV[n + 2])
  local number, first = tonumber(ARGV[n + 3]), n + 4
  local last, keep = first + number - 1, 0
  if not redis.call('ZSCORE', PARKED, group) then
    keep = math.min(wanted, number)
    if keep == wanted and (keep < number or rest > 0) then
      redis.call('ZADD', PARKED, now + rest, group)
    end
  end
  for i = first, first + keep - 1 do kept[#kept + 1] = ARGV[i] end
  move_on(PARKED .. ':' .. group, first + keep, last)
  n = last + 1
end
return kept
