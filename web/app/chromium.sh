#!/usr/bin/env bash
# What the stories are told in: Chromium, and the fonts that its pictures are drawn with.
set -euo pipefail
"$(dirname "$0")/install.sh" chromium chromium fonts-liberation fonts-inter fontconfig
