#!/usr/bin/env bash
# The tests of the front ends: units, and stories in Chromium against a bin/marquee of their own.
set -euo pipefail
cd "$(dirname "$0")"
./chromium.sh
./types.sh
PATH="$(./node.sh):$PATH"
export FILL="$PWD/../../bin/fill"
go -C ../.. build -o "$FILL" ./cmd/bench/fill
npx vitest run "$@"
