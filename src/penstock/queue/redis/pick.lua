-- Go once round the dead letters, some at a time: those that were chosen go to the back of the list
-- (if REVIVES, else nowhere), the others to the back of their own. How many were chosen.
-- ARGV: how many to look at, the domain and the reason ('' any), then URLs (none: any).
local LIST, DEAD, REASONS, LOSSES = unpack(KEYS)
local most, domain, reason = tonumber(ARGV[2]), ARGV[3], ARGV[4]
local named, number = {}, 0
for n = 5, #ARGV do named[ARGV[n]] = true end

local function is_chosen(url)
  if #ARGV > 4 and not named[url] then return false end
  if domain == '' and reason == '' then return true end
  local known = redis.call('HGET', REASONS, url)
  if not known then return false end
  local failure = cjson.decode(known)
  return (domain == '' or failure.domain == domain) and (reason == '' or failure.reason == reason)
end

local urls = redis.call('LRANGE', DEAD, 0, most - 1)
redis.call('LTRIM', DEAD, #urls, -1)
for _, url in ipairs(urls) do
  if is_chosen(url) then
    number = number + 1
    if REVIVES == 1 then redis.call('RPUSH', LIST, url) end
    redis.call('HDEL', REASONS, url)
    redis.call('HDEL', LOSSES, url)
  else
    redis.call('RPUSH', DEAD, url)
  end
end
return number
