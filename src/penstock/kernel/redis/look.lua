-- How long nobody may go; 0 if somebody may.
return wait(read_circuit())
