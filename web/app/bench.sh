#!/usr/bin/env bash
# Times of the console in Chromium, with SCALE subscriptions and WEBHOOKS webhook calls in the database; ROUNDS of each.
set -euo pipefail
cd "$(dirname "$0")"
./chromium.sh
./packages.sh
PATH="$(./node.sh):$PATH"
export FILL="$PWD/../../bin/fill" BINARY="${BINARY:-$PWD/../../bin/marquee}"
export SCALE="${SCALE:-1000000}" WEBHOOKS="${WEBHOOKS:-1000000}" ROUNDS="${ROUNDS:-15}"
go -C ../.. build -o "$FILL" ./cmd/bench/fill
npx vitest run --config vitest.bench.config.ts
