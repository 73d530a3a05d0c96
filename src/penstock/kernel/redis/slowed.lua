-- The ledgers that are slowed down: {ledger, microseconds left} each. KEYS[1] has them by their end.
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local kept, found = redis.call('ZRANGE', KEYS[1], 0, MOST - 1, 'WITHSCORES'), {}
for i = 1, #kept, 2 do
  found[#found + 1] = { kept[i], math.floor(tonumber(kept[i + 1]) - now) }
end
return found
