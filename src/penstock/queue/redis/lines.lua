-- Lines of groups, from one place to another in the order of their time: {name, length, due, ...}.
local found = {}
local groups = redis.call('ZRANGE', KEYS[1], ARGV[2], ARGV[3], 'WITHSCORES')
for n = 1, #groups, 2 do
  found[#found + 1] = groups[n]
  found[#found + 1] = redis.call('LLEN', KEYS[1] .. ':' .. groups[n])
  found[#found + 1] = tonumber(groups[n + 1]) - now
end
return found
