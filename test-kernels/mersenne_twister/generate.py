"""MT19937 by one group: the 624-word state in local memory, four dependent pieces, tempering."""

import numpy as np

from cases import I, launch, out

AFTER = "vendor samples"


def make(r):
    mt = np.random.MT19937()
    mt._legacy_seeding(4357)
    state = mt.state["state"]["key"].astype(np.uint32)
    values = mt.random_raw(2 * 624).astype(np.uint32)
    last = mt.state["state"]["key"].astype(np.uint32)
    return {"state": out(last, init=state), "values": out(values)}, [launch("twister", [227], [227], "state", "values", I(2))], []
