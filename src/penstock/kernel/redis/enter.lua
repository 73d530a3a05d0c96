-- Leave to go as {0, epoch, whether as a probe, whether there is a circuit}, or {how long to wait}.
local circuit = read_circuit()
if not circuit then return { 0, 0, 0, 0 } end
local waiting = wait(circuit)
if waiting > 0 then return { waiting } end
if circuit.state == 'closed' then return { 0, circuit.epoch, 0, 1 } end
circuit.probe_until = now + PROBE
circuit.epoch = next_epoch(circuit)
save(circuit)
return { 0, circuit.epoch, 1, 1 }
