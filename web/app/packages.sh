#!/usr/bin/env bash
# Installs what the lock file names, where it is not here yet.
set -euo pipefail
cd "$(dirname "$0")"
PATH="$(./node.sh):$PATH"
[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund || { echo 'The packages of web/app/package-lock.json could not be fetched.' >&2; exit 1; }
