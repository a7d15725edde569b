#!/bin/sh
# vizier_client_test.sh SOURCE_DIR BIN_DIR: runs the test of Vizier's client in a virtual environment of its own.
set -eu
python=$("$1/scripts/lib/python_venv" vizier)
exec "$python" "$(dirname "$0")/vizier_client_test.py" "$2"
