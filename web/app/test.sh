#!/usr/bin/env bash
# The tests of the front ends: units, and stories in Chromium against a bin/marquee of their own.
set -euo pipefail
cd "$(dirname "$0")"
if [ ! -x /usr/bin/chromium ] || ! fc-list 2>/dev/null | grep -q .; then
  [ "$(id -u)" = 0 ] || { echo 'Chromium and fonts are needed: apt-get install chromium fonts-liberation fonts-inter'; exit 1; }
  apt-get update -qq
  apt-get install -y -qq -o DPkg::Lock::Timeout=300 chromium fonts-liberation fonts-inter fontconfig >/dev/null
fi
./types.sh
PATH="$(./node.sh):$PATH"
npx vitest run "$@"
