-- Claims are over. ARGV: the worker, then ids with URLs; a URL only if it was lost before.
-- 1 for each that was ours, also one that an earlier call ended whose answer was not heard.
local CLAIMED, WORKERS, LOSSES = unpack(KEYS)
local accepted, known = {}, is_known(WORKERS, ARGV[2])
for n = 3, #ARGV, 2 do
  local is_ours = redis.call('HDEL', CLAIMED, ARGV[n]) == 1
  if is_ours and ARGV[n + 1] ~= '' then redis.call('HDEL', LOSSES, ARGV[n + 1]) end
  accepted[#accepted + 1] = (is_ours or known) and 1 or 0
end
return accepted
