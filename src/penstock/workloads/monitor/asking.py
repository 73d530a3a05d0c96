"""Who may ask the monitor.

What changes something wants an admin's key, and so does what shows prices that consumers must not
see. Keys of one workspace are for none of it: the monitor belongs to all of the platform.
"""

from typing import Annotated

from fastapi import Depends

from penstock.web.asking import of_no_workspace
from penstock.web.guard import Admin, Reader
from penstock.web.keys import Key

MONITOR_IS = "The monitor is"


async def _onlooker(key: Reader) -> Key:
    return of_no_workspace(key, MONITOR_IS)


async def _operator(key: Admin) -> Key:
    return of_no_workspace(key, MONITOR_IS)


Onlooker = Annotated[Key, Depends(_onlooker)]
Operator = Annotated[Key, Depends(_operator)]
