#!/bin/sh
# npm pack <name>@<version> --silent --pack-destination <dir>, with a directory as registry
set -eu
[ "$1" = pack ] && [ "$3" = --silent ] && [ "$4" = --pack-destination ]
cp "$5/../../$(echo "$2" | tr / -)" "$5/package.tgz"
