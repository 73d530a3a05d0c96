-- A ledger: its book (a hash: slow, hold, seen and when each pace was last asked for), starts
-- (a list), plans (sorted by turn) and slots (sorted by the end of the lease).
local BOOK, STARTS, PLANS, SLOTS = unpack(KEYS)
local slow, hold, paces = 0, 0, {}

-- What was in the future is now; a penalty lasts as long as it had left; plans are void.
local function set_clock_back(by)
  for n = 1, redis.call('LLEN', STARTS) do
    if tonumber(redis.call('LINDEX', STARTS, -n)) <= now then break end
    redis.call('LSET', STARTS, -n, now)
  end
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', SLOTS, now + LEASE, '+inf')) do
    redis.call('ZADD', SLOTS, now + LEASE, id)
  end
  for pace, seen in pairs(paces) do
    if seen > now then redis.call('HSET', BOOK, pace, now) end
  end
  redis.call('DEL', PLANS)
  slow, hold = slow - by, hold - by
  redis.call('HSET', BOOK, 'slow', slow, 'hold', hold)
end

local function open_ledger()
  local kept, seen = redis.call('HGETALL', BOOK), 0
  for i = 1, #kept, 2 do
    local name, value = kept[i], tonumber(kept[i + 1])
    if name == 'slow' then slow = value
    elseif name == 'hold' then hold = value
    elseif name == 'seen' then seen = value
    else paces[name] = value end
  end
  if seen > now then set_clock_back(seen - now) end
end

local function close_ledger(lifetime, field, value)
  redis.call('HSET', BOOK, 'seen', now, field, value)
  keep(BOOK, math.max(lifetime, slow - now, hold - now))
end
