-- 1 for the one that shall ask the origin, 0 while another does.
local lifetime = tonumber(ARGV[2])
local kept = redis.call('HMGET', KEYS[1], 'ends', 'lifetime')
if kept[1] and kept[1] - now > tonumber(kept[2]) then
  -- The clock was set back.
  redis.call('HSET', KEYS[1], 'ends', now + kept[2])
  return 0
end
if kept[1] and kept[1] - now > 0 then return 0 end
redis.call('HSET', KEYS[1], 'ends', now + lifetime, 'lifetime', lifetime)
keep(KEYS[1], lifetime)
return 1
