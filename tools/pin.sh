#!/usr/bin/env bash
# Writes constraints.txt: the versions that a development install resolves to on every supported Python.
# Name the interpreters as arguments, oldest first; without any, those found on the PATH are used.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

pythons=("$@")
if [[ ${#pythons[@]} -eq 0 ]]; then
  for candidate in /usr/bin/python3.11 python3.11 python3.12 python3.13; do
    "$candidate" -c 'import ensurepip, venv' 2>/dev/null && pythons+=("$candidate")
  done
fi
[[ ${#pythons[@]} -gt 0 ]] || { echo "No Python 3.11 to 3.13 with venv was found." >&2; exit 1; }

touch "$work/pins"
for python in "${pythons[@]}"; do
  echo "Resolving with $("$python" -V) ($python)"
  rm -rf "$work/venv"
  "$python" -m venv "$work/venv"
  # The pins of the older Pythons bind the newer ones, so one file fits them all or this fails.
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check -c "$work/pins" -e '.[dev]'
  "$work/venv/bin/pip" freeze --exclude-editable --disable-pip-version-check >>"$work/pins"
  sort --ignore-case --unique -o "$work/pins" "$work/pins"
done

if grep -nE '://|@|^-' "$work/pins"; then
  echo "The lines above are no plain pins; constraints.txt is left as it was." >&2
  exit 1
fi
{ echo "# Written by 'make pin': what a development install resolves to. Do not edit."; cat "$work/pins"; } >constraints.txt
echo "Wrote constraints.txt with $(wc -l <"$work/pins") pins"
