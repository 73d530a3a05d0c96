-- 1 if the worker is known: it lives.
if not is_known(KEYS[1], ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], now, ARGV[2])
return 1
