-- Groups that are due, with the lengths of their lines; and the head of the list becomes the
-- worker's: half of what there is room for, more if the groups have less, at least ARGV[4].
-- {groups, lengths, urls, losses}; nothing for a worker that is not known. ARGV from 5 on are ids.
local LIST, CLAIMED, WORKERS, PARKED, LOSSES = unpack(KEYS)
local worker, room, least = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
if not is_known(WORKERS, worker) then return false end

local groups, lengths, due = {}, {}, 0
for _, group in ipairs(redis.call('ZRANGEBYSCORE', PARKED, '-inf', now, 'LIMIT', 0, room)) do
  local length = redis.call('LLEN', PARKED .. ':' .. group)
  if length == 0 then
    redis.call('ZREM', PARKED, group)
  else
    groups[#groups + 1], lengths[#lengths + 1] = group, length
    due = due + length
  end
end

local most = math.max(room - math.min(due, math.floor(room / 2)), least)
most = math.min(most, #ARGV - 4)
local urls = most > 0 and redis.call('LRANGE', LIST, 0, most - 1) or {}
redis.call('LTRIM', LIST, #urls, -1)
local losses = known_losses(LOSSES, urls)
for n, url in ipairs(urls) do hold(CLAIMED, ARGV[4 + n], url, losses[n]) end
return { groups, lengths, urls, losses }
