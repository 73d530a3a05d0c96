-- Note that URLs that may have cost workers are tried. ARGV: for each its id, URL, how often it was
-- lost and tried. 1 for each that is still ours.
local CLAIMED, LOSSES = unpack(KEYS)
local ours = {}
for n = 2, #ARGV, 4 do
  local id, url, lost, tried = unpack(ARGV, n, n + 3)
  local is_ours = redis.call('HEXISTS', CLAIMED, id) == 1
  if is_ours then
    know_loss(LOSSES, url, tonumber(lost), tonumber(tried))
    hold(CLAIMED, id, url, redis.call('HGET', LOSSES, url))
  end
  ours[#ours + 1] = is_ours and 1 or 0
end
return ours
