-- Let the next one ask.
redis.call('DEL', KEYS[1])
