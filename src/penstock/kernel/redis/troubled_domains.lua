-- Some of the domains whose circuits are not closed, or were not when they were last looked at.
return redis.call('SRANDMEMBER', KEYS[1], MOST)
