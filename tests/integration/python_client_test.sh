#!/bin/sh
# python_client_test.sh SOURCE_DIR BIN_DIR: runs the Python client's test in a virtual environment of its own.
set -eu
python=$("$1/scripts/lib/python_venv" grpc)
exec "$python" "$(dirname "$0")/python_client_test.py" "$2" "$1/proto"
