-- Ask for a turn: granted, or planned for later, or come again because every slot is taken.
-- Who only looks is told when it would be, and leaves no trace. With a turn comes whether there
-- is no circuit for it, KEYS[5].
local id, mark, pace, only_looks = ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5] == 'look'
local delay, concurrency, rates = 0, math.huge, {}
local longest, most = 0, 0

local function obey(text, stretch)
  local number = string.gmatch(text, '%d+')
  delay = math.max(delay, number() * stretch)
  concurrency = math.min(concurrency, tonumber(number()))
  for limit in number do
    limit = tonumber(limit)
    local window = number() * stretch
    rates[#rates + 1] = { limit, window }
    most, longest = math.max(most, limit), math.max(longest, window)
  end
end

-- The strictest of the paces in use, halved while the domain is slowed down.
local function agree_on_pace()
  local stretch = now < slow and 2 or 1
  paces[pace] = now
  for text, seen in pairs(paces) do
    if now - seen > PACE_MEMORY then
      redis.call('HDEL', BOOK, text)
    else
      obey(text, stretch)
    end
  end
end

-- The n-th last moment of all starts and plans, taking plans to lie after the starts.
local function from_the_end(n, planned)
  if n <= planned then
    return tonumber(redis.call('ZRANGE', PLANS, -n, -n, 'WITHSCORES')[2])
  end
  return tonumber(redis.call('LINDEX', STARTS, planned - n))
end

local function room(started, planned)
  local count, at = started + planned, 0
  if count > 0 and delay > 0 then at = from_the_end(1, planned) + delay end
  for _, rate in ipairs(rates) do
    local limit, window = rate[1], rate[2]
    if count >= limit then at = math.max(at, from_the_end(limit, planned) + window) end
  end
  return at
end

-- Drop a ticket's plan, and those whose owners did not come; return when its turn was.
local function forget_plan()
  if redis.call('ZCARD', PLANS) == 0 then return 0 end
  local turn = tonumber(redis.call('ZSCORE', PLANS, id) or 0)
  redis.call('ZREM', PLANS, id)
  redis.call('ZREMRANGEBYSCORE', PLANS, '-inf', now - NO_SHOW)
  return turn
end

local function find_slot()
  local ends = redis.call('ZSCORE', SLOTS, id)
  return ends and tonumber(ends) > now
end

-- A slot whose lease has run out is free, and so is one of a process that fell silent.
local function is_full()
  if redis.call('ZCARD', SLOTS) < concurrency then return false end
  redis.call('ZREMRANGEBYSCORE', SLOTS, '-inf', now)
  for _, holder in ipairs(redis.call('ZRANGE', SLOTS, 0, -1)) do
    if not is_alive(process_of(holder)) then redis.call('ZREM', SLOTS, holder) end
  end
  return redis.call('ZCARD', SLOTS) >= concurrency
end

local function take_slot(at)
  redis.call('ZADD', SLOTS, at + LEASE, id)
  keep(SLOTS, at - now + LEASE)
end

local function start(started)
  redis.call('RPUSH', STARTS, now)
  -- More than comes in, so that the list shrinks when the pace did; bounded, so that it is quick.
  for kept = started + 1, started - 1, -1 do
    if kept <= MIN_KEPT then break end
    local oldest = tonumber(redis.call('LINDEX', STARTS, 0))
    if kept <= most and oldest >= now - 2 * longest then break end
    redis.call('LPOP', STARTS)
  end
  keep(STARTS, math.max(PACE_MEMORY, 2 * longest + delay))
end

local function answer(granted, at, turn, has_slot)
  if not only_looks then
    close_ledger(math.max(PACE_MEMORY, 2 * longest + delay, LEASE), pace, now)
  end
  local is_clean = granted == 1 and redis.call('EXISTS', KEYS[5]) == 0
  return string.format('%d %.0f %.0f %d %d', granted, at - now, turn, has_slot and 1 or 0,
    is_clean and 1 or 0)
end

open_ledger()
live(process_of(id))
agree_on_pace()
local turn = forget_plan()
local has_slot = find_slot()
if not has_slot and is_full() then
  return answer(0, math.max(now + math.max(FULL_HOUSE, delay), hold), 0, false)
end
local started = redis.call('LLEN', STARTS)
local at = math.max(now, hold, turn, room(started, 0))
-- Whoever has a place in the line is measured by real starts alone.
if turn == 0 and (mark == 0 or mark > now) then
  local planned = redis.call('ZCARD', PLANS)
  if planned > 0 then at = math.max(at, room(started, planned)) end
end
if only_looks then return answer(0, at, 0, false) end
if has_slot or at <= now then take_slot(at) end
if at > now then
  redis.call('ZADD', PLANS, at, id)
  keep(PLANS, at - now + NO_SHOW)
  return answer(0, at, at, has_slot)
end
start(started)
return answer(1, at, at, true)
