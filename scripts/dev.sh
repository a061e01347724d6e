#!/usr/bin/env bash
# Runs the demo and starts it anew, rebuilt, whenever a source file changes.
# A build that fails leaves the last demo running.
set -euo pipefail
cd "$(dirname "$0")/.."

stamp=$(mktemp)
demo=
finish() {
	[ -z "$demo" ] || { kill "$demo" && wait "$demo"; } 2>/dev/null || true
	rm -f "$stamp"
}
trap finish EXIT
trap 'exit 0' INT TERM

changed() {
	find . \( -name .git -o -name node_modules -o -name bin \) -prune -o -type f \
		\( -name '*.go' -o -name '*.html' -o -name '*.css' -o -name '*.js' -o -name '*.sql' -o -name '*.yaml' \) \
		-newer "$stamp" -print -quit | grep -q .
}

rebuild() {
	touch "$stamp"
	make --no-print-directory build || return 0
	[ -z "$demo" ] || { kill "$demo" && wait "$demo"; } || true
	LOG_LEVEL=${LOG_LEVEL:-debug} bin/airtable-replay demo "$@" &
	demo=$!
}

rebuild "$@"
while sleep 1; do
	if changed; then rebuild "$@"; fi
done
