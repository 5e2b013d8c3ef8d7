#!/bin/sh
# Runs the official array-API suite against device_api: array_api.sh CHECKOUT [DEVICE] [pytest options].
# CHECKOUT is a folder with data-apis/array-api-tests, its submodule array-api included. DEVICE is the default
# device of the run, "cpu" unless given. EXAMPLES is the number of examples per test, 500 unless set.
set -eu
checkout=${1:?usage: array_api.sh CHECKOUT [DEVICE] [pytest options]}
device=${2:-cpu}
[ $# -gt 1 ] && shift 2 || shift 1
root=$(cd "$(dirname "$0")/../.." && pwd)
if [ -d "$root/device_api/_core" ] && ls "$root"/device_api/_core/native*.so >/dev/null 2>&1; then
  PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}"
  export PYTHONPATH
fi
cd "$checkout"
ARRAY_API_TESTS_MODULE="exec('import device_api as xp; xp.set_device(\"$device\")')" \
  exec python -m pytest -q --max-examples "${EXAMPLES:-500}" --disable-deadline -p no:cacheprovider "$@" array_api_tests
