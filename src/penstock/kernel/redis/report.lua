-- Count how a request went: '1' well, '0' ill, '' nothing was learnt about the site.
-- {seconds} if that opened the circuit, {0} if it closed it, {} if it is as it was.
local epoch, probe, well = tonumber(ARGV[2]), ARGV[3] == '1', ARGV[4]
-- The domains whose circuits are not closed.
local TROUBLED, DOMAIN = KEYS[2], ARGV[5]

local function open(circuit, seconds)
  circuit.state, circuit.epoch = 'open', next_epoch(circuit)
  circuit.cooldown, circuit.open_until = seconds, now + seconds
  circuit.recent, circuit.good_probes = '', 0
end

local function judge_probe(circuit)
  circuit.probe_until = 0
  if well == '0' then
    circuit.failures = circuit.failures + 1
    open(circuit, math.min(math.floor(circuit.cooldown * COOLDOWN_FACTOR), MAX_COOLDOWN))
  elseif well == '1' then
    circuit.good_probes = circuit.good_probes + 1
    if circuit.good_probes >= PROBES_TO_CLOSE then
      circuit.state, circuit.epoch, circuit.failures = 'closed', next_epoch(circuit), 0
    end
  end
end

local function count(circuit)
  circuit.recent = circuit.recent .. well
  local tripped
  local _, failures = string.gsub(circuit.recent, '0', '')
  if TRIP == 'consecutive' then
    if well == '1' then circuit.recent = '' end
    tripped = #circuit.recent >= THRESHOLD
  else
    circuit.recent = string.sub(circuit.recent, -WINDOW)
    _, failures = string.gsub(circuit.recent, '0', '')
    tripped = failures > THRESHOLD
  end
  if tripped then
    circuit.failures = failures
    open(circuit, COOLDOWN)
  end
end

local circuit = read_circuit()
if not circuit then
  if epoch ~= 0 or well ~= '0' then return {} end
  circuit = new_circuit()
end
if epoch ~= circuit.epoch then return {} end
if probe then
  judge_probe(circuit)
elseif well ~= '' then
  count(circuit)
end
-- Never open and no failure left to count: the same as no circuit at all.
if circuit.epoch == 0 and not string.find(circuit.recent, '0', 1, true) then
  redis.call('DEL', CIRCUIT)
else
  save(circuit)
end
if circuit.epoch == epoch then return {} end
if circuit.state == 'open' then
  redis.call('SADD', TROUBLED, DOMAIN)
  keep(TROUBLED, KEPT)
  return { circuit.cooldown }
end
redis.call('SREM', TROUBLED, DOMAIN)
return { 0 }
