"""To be imported before numpy and PyTorch, whose threads it counts: one, unless OMP_NUM_THREADS says otherwise.

One is fastest for small networks, and adds up in the same order on every host.
"""

import os

said = os.environ.setdefault("OMP_NUM_THREADS", "1").partition(",")[0]
COUNT = max(1, int(said)) if said.isdecimal() else 1
