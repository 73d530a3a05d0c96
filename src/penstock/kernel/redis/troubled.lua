-- The circuits of some domains that are not closed: {domain, state, failures, cool-down} each.
-- KEYS[1] is the set of such domains, the others are their circuits.
local found = {}
for i = 2, #KEYS do
  local domain = ARGV[i]
  local kept = redis.call('HMGET', KEYS[i], 'state', 'open_until', 'failures', 'cooldown')
  if not kept[1] or kept[1] == 'closed' then
    redis.call('SREM', KEYS[1], domain)
  else
    local state = now < tonumber(kept[2]) and 'open' or 'half_open'
    found[#found + 1] = { domain, state, tonumber(kept[3] or 0), tonumber(kept[4]) }
  end
end
return found
