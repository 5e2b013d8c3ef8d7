#!/bin/sh
# Runs the official array-API suite against device_api: array_api.sh CHECKOUT [DEVICE] [pytest options].
# CHECKOUT is a folder with data-apis/array-api-tests, its submodule array-api included. DEVICE is the default
# device of the run, "cpu" unless given. EXAMPLES is the number of examples per test, 500 unless set. Falling back
# to the CPU is an error, but for the op families in MAY_FALL_BACK, "factorisation,fourier" unless set.
set -eu
checkout=${1:?usage: array_api.sh CHECKOUT [DEVICE] [pytest options]}
device=${2:-cpu}
[ $# -gt 1 ] && shift 2 || shift 1
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
PYTHONPATH="$here${PYTHONPATH:+:$PYTHONPATH}"
if [ -d "$root/device_api/_core" ] && ls "$root"/device_api/_core/native*.so >/dev/null 2>&1; then
  PYTHONPATH="$root:$PYTHONPATH"
fi
export PYTHONPATH
cd "$checkout"
DEVICE_UNDER_TEST="$device" MAY_FALL_BACK="${MAY_FALL_BACK-factorisation,fourier}" ARRAY_API_TESTS_MODULE=device_api \
  exec python -m pytest -q -p device_under_test --max-examples "${EXAMPLES:-500}" --disable-deadline \
  -p no:cacheprovider "$@" array_api_tests
