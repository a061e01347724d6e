#!/usr/bin/env bash
# Rewrites the golden files: runs the tests of every package that has an
# -update flag with that flag. Look at the difference before you commit it.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=$(
	{ grep -rl --include='*_test.go' 'flag.Bool("update"' . || true; } |
		while read -r file; do dirname "$file"; done | sort -u
)
if [ -z "$packages" ]; then
	echo 'No package has golden files.' >&2
	exit 1
fi
# shellcheck disable=SC2086 # one word per package
go test -count=1 $packages -update
