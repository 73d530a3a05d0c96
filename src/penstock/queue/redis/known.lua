-- A worker is known from its registration until it is struck off; then its beat is 0 until all
-- that it had claimed is taken back.
local function is_known(workers, worker)
  local beat = redis.call('ZSCORE', workers, worker)
  return beat and tonumber(beat) > 0
end
