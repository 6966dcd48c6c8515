#!/usr/bin/env bash
# install.sh PROGRAM PACKAGE...: Debian's packages, where PROGRAM is missing; where they cannot be had it says so and fails.
set -euo pipefail
program="$1"
shift
! command -v "$program" >/dev/null || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq -o DPkg::Lock::Timeout=300 >&2 || true # the lists that are here may do
  apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 "$@" >/dev/null || true
fi
command -v "$program" >/dev/null || { echo "$program is needed and could not be installed; Debian: apt-get install $*" >&2; exit 1; }
