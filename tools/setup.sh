#!/usr/bin/env bash
# Creates the virtual environment $1 with everything for development; $2 names the Python, if given.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1
wanted=${2:-}
log=$venv/setup.log

fail() {
  printf 'Set-up stopped: %s\n' "$*" >&2
  exit 1
}

is_new_enough() {
  "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

is_complete() {
  "$1" -c 'import venv, ensurepip' 2>/dev/null
}

find_python() {
  local candidate
  # The system's own first, if it can: version managers build without optimisation, unless told.
  for candidate in /usr/bin/python3.1{3,2,1}; do
    if is_complete "$candidate"; then
      echo "$candidate"
      return
    fi
  done
  for candidate in python3.13 python3.12 python3.11 python3; do
    # A shim of a version manager can be on the PATH and still run nothing, so each one is tried.
    if is_new_enough "$candidate"; then
      command -v "$candidate"
      return
    fi
  done
  fail "no Python 3.11 or newer was found (tried python3.13, python3.12, python3.11, python3)." \
    "Install one (Debian: apt-get install python3 python3-venv) or name it: make PYTHON=/path/to/python3 ..."
}

choose_python() {
  if [[ -z $wanted ]]; then
    find_python
    return
  fi
  is_new_enough "$wanted" || fail "PYTHON=$wanted does not run or is older than 3.11."
  command -v "$wanted"
}

create_environment() {
  local python version
  python=$(choose_python)
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  is_complete "$python" ||
    fail "Python $version at $python has no venv or ensurepip module." \
      "On Debian they are in the package python$version-venv (apt-get install python$version-venv)."
  echo "Creating $venv with Python $version ($python)"
  "$python" -m venv --clear "$venv"
}

install_dependencies() {
  echo "Installing the dependencies into $venv"
  if install_with_uv >"$log" 2>&1 || install_with_pip >>"$log" 2>&1; then
    return
  fi
  tail -n 15 "$log" >&2
  fail "pip could not install the dependencies (above: the end of $log)." \
    "If it speaks of connections, time-outs or 'no matching distribution', this machine does not reach" \
    "the package registry: check the network, or point pip to a mirror with PIP_INDEX_URL."
}

# In a fourth of pip's time; it knows pip's variables only if it is told, and none of pip's files.
install_with_uv() {
  pip_install uv &&
    UV_DEFAULT_INDEX=${UV_DEFAULT_INDEX:-${PIP_INDEX_URL:-}} \
      UV_FIND_LINKS=${UV_FIND_LINKS:-${PIP_FIND_LINKS:-}} \
      "$venv/bin/uv" pip install --quiet --system-certs --compile-bytecode --no-progress \
      --python "$venv/bin/python" -c constraints.txt -e '.[dev]'
}

install_with_pip() {
  echo "uv could not install the dependencies; pip tries"
  pip_install -e '.[dev]'
}

pip_install() {
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input \
    -c constraints.txt "$@"
}

is_usable() {
  is_new_enough "$1" && "$1" -m pip --version >/dev/null 2>&1
}

if [[ -n $wanted ]] || ! is_usable "$venv/bin/python"; then
  create_environment
fi
install_dependencies
