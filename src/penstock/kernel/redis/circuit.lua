-- A circuit is a hash; none at all means closed and without trouble. An open one whose
-- cool-down is over is half-open. Epochs are times, so that a circuit that was forgotten
-- and began anew does not repeat one.
local CIRCUIT = KEYS[1]
local NUMBERS = { 'epoch', 'open_until', 'cooldown', 'good_probes', 'probe_until',
  'failures' }

local function new_circuit()
  local circuit = { state = 'closed', recent = '' }
  for _, name in ipairs(NUMBERS) do circuit[name] = 0 end
  return circuit
end

local function save(circuit)
  local fields = { 'state', circuit.state, 'recent', circuit.recent }
  for _, name in ipairs(NUMBERS) do
    fields[#fields + 1] = name
    fields[#fields + 1] = circuit[name]
  end
  redis.call('HSET', CIRCUIT, unpack(fields))
  keep(CIRCUIT, math.max(0, circuit.open_until - now) + KEPT)
end

-- A wait longer than it was made for means that the clock was set back: begin it anew.
local function mind_the_clock(circuit)
  if circuit.open_until - now > circuit.cooldown then
    circuit.open_until = now + circuit.cooldown
    save(circuit)
  end
  if circuit.probe_until - now > PROBE then
    circuit.probe_until = now + PROBE
    save(circuit)
  end
end

local function read_circuit()
  local kept = redis.call('HMGET', CIRCUIT, 'state', 'recent', unpack(NUMBERS))
  if not kept[1] then return nil end
  local circuit = { state = kept[1], recent = kept[2] }
  for i, name in ipairs(NUMBERS) do circuit[name] = tonumber(kept[i + 2] or 0) end
  mind_the_clock(circuit)
  return circuit
end

local function next_epoch(circuit)
  return math.max(now, circuit.epoch + 1)
end

-- How long nobody may go; 0 if somebody may.
local function wait(circuit)
  if not circuit or circuit.state == 'closed' then return 0 end
  if now < circuit.open_until then return circuit.open_until - now end
  return math.max(0, math.min(circuit.probe_until - now, PATIENCE))
end
