#!/usr/bin/env bash
# build.sh DIST: the front ends, built into the folder DIST, with each text by Brotli beside it.
set -euo pipefail
dist="$(mkdir -p "$1" && cd "$1" && pwd)"
cd "$(dirname "$0")"
./packages.sh
PATH="$(./node.sh):$PATH"
DIST="$dist" npm run -s build -- --logLevel warn
go -C ../../tools run ./brotli "$dist"
