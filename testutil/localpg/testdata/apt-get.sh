#!/bin/sh
# apt-get, run through a link in the test's directory: it notes what it is told, and like
# Debian's package makes a cluster unless conf/createcluster.d says not to.
set -eu
here=$(dirname "$0")
[ "$DEBIAN_FRONTEND" = noninteractive ]
echo "$@" >>"$here/calls"
case "$*" in
*" postgresql") grep -qs "create_main_cluster = false" "$here"/conf/createcluster.d/*.conf || touch "$here/cluster" ;;
esac
