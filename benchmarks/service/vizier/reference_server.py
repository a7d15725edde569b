"""Open-source Vizier's own server: prints its address, serves until its standard input ends.

usage: reference_server.py ram|FILE      FILE: of its SQLite store
"""

import sys

from vizier.service import servers

url = None if sys.argv[1] == "ram" else f"sqlite:///{sys.argv[1]}"
server = servers.DefaultVizierServer(host="127.0.0.1", database_url=url)
print(server.endpoint, flush=True)
sys.stdin.read()
