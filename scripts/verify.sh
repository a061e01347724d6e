#!/usr/bin/env bash
# Checks that what is generated is what the generators make of its sources, and
# that go.mod is tidy. Works on a copy: the checkout stays as it is.
set -euo pipefail
cd "$(dirname "$0")/.."

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

git -c safe.directory='*' ls-files -z --cached --others --exclude-standard |
	while IFS= read -r -d '' file; do
		[ ! -e "$file" ] || printf '%s\0' "$file" # removed, but not committed yet
	done | tar --null --files-from=- -cf - | tar -C "$copy" -xf -
cp -R "$copy" "$copy.before"
trap 'rm -rf "$copy" "$copy.before"' EXIT

(cd "$copy" && go generate ./...)
if ! diff -ru "$copy.before" "$copy"; then
	echo 'Generated files are out of date. This command renews them: make generate' >&2
	exit 1
fi
if ! go mod tidy -diff; then
	echo 'go.mod is not tidy. This command tidies it: go mod tidy' >&2
	exit 1
fi
