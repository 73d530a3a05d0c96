-- A claim is {"url", "lost", "tried"} under its id, in the hash of its worker. What is known of a
-- URL that was lost with a worker stands under the URL in another hash.
local function hold(claimed, id, url, known)
  local claim = known and cjson.decode(known) or { lost = 0, tried = 0 }
  claim.url = url
  redis.call('HSET', claimed, id, cjson.encode(claim))
end

-- What is known of URLs that were lost, in their order; nothing if there are none.
local function known_losses(losses, urls)
  if #urls == 0 or redis.call('EXISTS', losses) == 0 then return {} end
  return redis.call('HMGET', losses, unpack(urls))
end

local function know_loss(losses, url, lost, tried)
  redis.call('HSET', losses, url, cjson.encode({ lost = lost, tried = tried }))
end
