-- The answer with how long it is still good, or nothing.
local kept = redis.call('HMGET', KEYS[1], 'ends', 'lifetime', 'status', 'text', 'tries', 'detail')
if not kept[1] then return false end
local rest, lifetime = kept[1] - now, tonumber(kept[2])
if rest > lifetime then
  -- The clock was set back.
  redis.call('HSET', KEYS[1], 'ends', now + lifetime)
  rest = lifetime
end
if rest <= 0 then return false end
return { rest, kept[3], kept[4], kept[5], kept[6] }
