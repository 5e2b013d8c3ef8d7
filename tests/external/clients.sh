#!/bin/sh
# SciPy's and scikit-learn's own tests of array-API dispatch, from the installed packages, on device_api's arrays.
#   clients.sh [DEVICE]        all of it; "cpu" unless given
#   CLIENTS=scipy clients.sh   one of the two
# The last lines of each say how many tests passed, and what was left out for which reason (clients/*.txt).
set -eu
device=${1:-cpu}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SCIPY_ARRAY_API=1 CLIENT_DEVICE="$device" OMP_NUM_THREADS=1 PYTHONPATH="$here${PYTHONPATH:+:$PYTHONPATH}"
python=${PYTHON:-python}

scipy_tests="scipy.fft scipy.cluster.tests.test_vq scipy.integrate.tests.test_cubature
  scipy.special.tests.test_logsumexp scipy.special.tests.test_log1mexp
  scipy.special.tests.test_support_alternative_backends
  scipy.stats.tests.test_rank scipy.stats.tests.test_variation scipy.stats.tests.test_device_dtype
  scipy.stats.tests.test_correlation scipy.stats.tests.test_quantile scipy.stats.tests.test_entropy
  scipy.stats.tests.test_morestats scipy.stats.tests.test_stats scipy.stats.tests.test_hypotests"
# Every test module of scikit-learn that asks for namespaces, devices and dtypes, and the estimator checks.
sklearn_tests="sklearn.tests.test_common $("$python" - <<'END'
import pathlib, sklearn
root = pathlib.Path(sklearn.__file__).parent
for path in sorted(root.rglob("test_*.py")):
    if "yield_namespace_device_dtype_combinations" in path.read_text(encoding="utf-8"):
        print(".".join(path.relative_to(root.parent).with_suffix("").parts))
END
)"

run() { # run NAME MODULES...
  name=$1
  shift
  cd "$work"
  "$python" -m pytest -p "${name}_client" -q --no-header --tb=short -p no:cacheprovider -p no:xdist -W ignore \
    --pyargs "$@" >"$work/$name.log" 2>&1
}

code=0
set --
for name in ${CLIENTS:-scipy sklearn}; do
  case $name in
    scipy) modules=$scipy_tests ;;
    sklearn) modules=$sklearn_tests ;;
    *) echo "no client is named $name" >&2; exit 2 ;;
  esac
  # shellcheck disable=SC2086
  run "$name" $modules &
  set -- "$@" "$!:$name"
done
for each in "$@"; do
  name=${each#*:}
  if wait "${each%%:*}"; then lines=12; else code=1 lines=200; fi
  tail -n "$lines" "$work/$name.log"
done
exit $code
