-- Strike off a worker that has not beaten since ('' whenever that was).
local beat = redis.call('ZSCORE', KEYS[1], ARGV[2])
if beat and (ARGV[3] == '' or tonumber(beat) == tonumber(ARGV[3])) then
  redis.call('ZADD', KEYS[1], 0, ARGV[2])
end
