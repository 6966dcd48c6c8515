#!/usr/bin/env bash
# Whether web/dist is what its sources give.
set -euo pipefail
cd "$(dirname "$0")"
./node.sh --present >/dev/null || { [ $? = 3 ] && echo 'web/dist is not compared with its sources: that needs Node' && exit 0; }
new="$(mktemp -d)"
trap 'rm -rf "$new"' EXIT
./build.sh "$new"
diff -rq "$new" ../dist || { echo 'web/dist is not what web/app gives: make web'; exit 1; }
