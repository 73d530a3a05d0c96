-- Give back a slot, or a place in the line.
redis.call('ZREM', SLOTS, ARGV[2])
redis.call('ZREM', PLANS, ARGV[2])
