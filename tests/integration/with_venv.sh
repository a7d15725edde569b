#!/bin/sh
# with_venv.sh SOURCE_DIR NAME SCRIPT ARGUMENT...: runs a test in the virtual environment of that name (scripts/lib/python_venv).
set -eu
python=$("$1/scripts/lib/python_venv" "$2")
shift 2
exec "$python" "$@"
