-- What a worker that was struck off had claimed stands at the front of the list again, some at a
-- time; when nothing is left, the worker is forgotten. {how many, whether more is left}
local LIST, CLAIMED, WORKERS, PROCESSES, LOSSES = unpack(KEYS)
local worker, most = ARGV[2], ARGV[3]
if is_known(WORKERS, worker) then return { 0, 0 } end

local cursor, some = '0', {}
repeat
  cursor, some = unpack(redis.call('HSCAN', CLAIMED, cursor, 'COUNT', most))
until #some > 0 or cursor == '0'

local ids, claims = {}, {}
for n = 1, #some, 2 do
  ids[#ids + 1], claims[some[n]] = some[n], cjson.decode(some[n + 1])
end
table.sort(ids, function(one, other) return one > other end)
for _, id in ipairs(ids) do
  local claim = claims[id]
  redis.call('LPUSH', LIST, claim.url)
  redis.call('HDEL', CLAIMED, id)
  know_loss(LOSSES, claim.url, claim.lost + 1, claim.tried)
end

local more = redis.call('EXISTS', CLAIMED)
if more == 0 then
  redis.call('ZREM', WORKERS, worker)
  redis.call('HDEL', PROCESSES, worker)
end
return { #ids, more }
