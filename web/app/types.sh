#!/usr/bin/env bash
# Makes the types of the API that bin/marquee serves, and holds the front ends to them.
set -euo pipefail
cd "$(dirname "$0")"
./packages.sh
PATH="$(./node.sh):$PATH"
PUBLIC_URL=http://localhost ../../bin/marquee openapi >src/api/openapi.new.json
if ! cmp -s src/api/openapi.new.json src/api/openapi.json || [ ! -e src/api/schema.d.ts ]; then
  cp src/api/openapi.new.json src/api/openapi.json
  npm run -s api
fi
rm src/api/openapi.new.json
npm run -s check
