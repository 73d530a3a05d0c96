-- Keep an answer for so long.
local lifetime = tonumber(ARGV[2])
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'ends', now + lifetime, 'lifetime', lifetime,
  'status', ARGV[3], 'text', ARGV[4], 'tries', ARGV[5], 'detail', ARGV[6])
keep(KEYS[1], lifetime)
