#!/bin/sh
# Brings the stopped Postgres of this machine back to an instant, such as "2026-11-24 03:00:00+00", or as far as the
# archive reaches with "latest". As user postgres; further arguments are pgbackrest's. What the data directory holds and
# the backup does not is removed: copy it away before, where it may still be wanted. Then start Postgres: it replays its
# log up to the instant and opens.
set -eu
target=$1
shift
if [ "$target" = latest ]; then
	exec pgbackrest --stanza=marquee "$@" --delta restore
fi
exec pgbackrest --stanza=marquee "$@" --delta --type=time --target="$target" --target-action=promote restore
