-- 1 for the one that shall ask the origin, 0 while another does who is still there.
local lifetime, process = tonumber(ARGV[2]), ARGV[3]
live(process)
local kept = redis.call('HMGET', KEYS[1], 'ends', 'lifetime', 'process')
if kept[1] and is_alive(kept[3]) then
  if kept[1] - now > tonumber(kept[2]) then
    -- The clock was set back.
    redis.call('HSET', KEYS[1], 'ends', now + kept[2])
    return 0
  end
  if kept[1] - now > 0 then return 0 end
end
redis.call('HSET', KEYS[1], 'ends', now + lifetime, 'lifetime', lifetime, 'process', process)
keep(KEYS[1], lifetime)
return 1
