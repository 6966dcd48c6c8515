#!/usr/bin/env bash
# Builds PgBouncer 1.24, of the Debian release after bookworm, from its source into bin/pgbouncer: for machines whose
# own is older. Needs apt, a C compiler, make, libevent-dev and libssl-dev; root installs what is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
suite=trixie

missing=()
for tool in apt-get dpkg-source; do
	command -v $tool >/dev/null || { echo "PgBouncer was not built: $tool is not here, its source is Debian's."; exit 1; }
done
for package in gcc make pkg-config libevent-dev libssl-dev; do
	dpkg-query -W -f '${Status}\n' $package 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
	if [ "$(id -u)" != 0 ]; then
		echo "PgBouncer was not built: run as root, apt-get install ${missing[*]}"
		exit 1
	fi
	apt-get install -y -q -o DPkg::Lock::Timeout=300 "${missing[@]}"
fi

# The lists of this one release, which the system's own apt never sees.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
mirror=$(grep -rhoE 'https?://[^ ]+/debian/?( |$)' /etc/apt/sources.list{,.d} 2>/dev/null | head -1 | tr -d ' ' || true)
mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
signed=signed-by=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb-src [$signed] ${mirror:-http://deb.debian.org/debian} $suite main" >"$dir/sources.list"
apt=(apt-get -q -o Dir::Etc::SourceList="$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null
	-o Dir::State::Lists="$dir/lists" -o Dir::Cache="$dir/cache" -o APT::Sandbox::User=root)
"${apt[@]}" update
(cd "$dir" && "${apt[@]}" source pgbouncer)
cd "$dir"/pgbouncer-*/
./configure --quiet --without-cares --without-systemd --without-pam
make --quiet -j2 pgbouncer
mkdir -p "$OLDPWD/bin"
install -s pgbouncer "$OLDPWD/bin/pgbouncer"
"$OLDPWD/bin/pgbouncer" --version
