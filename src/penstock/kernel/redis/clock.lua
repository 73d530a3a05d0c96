-- Every script tells the time by the server's clock, in whole microseconds; tests shift it.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2] + ARGV[1]

-- Keep a key at least so long; a quarter longer, so that not every call has to renew it.
local function keep(key, microseconds)
  local milliseconds = math.ceil(microseconds / 1000)
  if redis.call('PTTL', key) < milliseconds then
    redis.call('PEXPIRE', key, math.ceil(milliseconds * 1.25))
  end
end
