-- Processes tell that they are there, each under a key of its own, beside a common beginning.
local ALIVE = KEYS[#KEYS]

local function process_of(ticket)
  return string.match(ticket, '^[^:]+')
end

local function live(process)
  redis.call('SET', ALIVE .. process, now, 'PX', REMEMBERED / 1000)
end

local function is_alive(process)
  local seen = redis.call('GET', ALIVE .. process)
  return seen and now - seen <= SILENCE
end
