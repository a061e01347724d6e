#!/usr/bin/env bash
# Sees to it that this machine has the named pieces: certificates, compiler,
# postgres, node (with npm), chromium, pgbouncer, curl.
# Root on a machine with apt-get gets what is missing; anybody else is told the
# one command that installs all of it.
set -euo pipefail
cd "$(dirname "$0")/.."

# Without them nothing can be fetched; these are the places where Go looks.
has_certificates() {
	[ "$(uname)" = Linux ] || return 0
	local file
	for file in "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" \
		/etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem; do
		[ ! -s "$file" ] || return 0
	done
	return 1
}

has_compiler() {
	# shellcheck disable=SC2046 # CC may hold options
	printf '#include <stdlib.h>\nint main(void) { return 0; }\n' |
		$(go env CC) -x c - -o /dev/null 2>/dev/null
}

# The places where internal/localpg looks.
has_postgres() {
	[ -n "${DATABASE_URL:-}" ] || command -v postgres >/dev/null || compgen -G \
		'/usr/lib/postgresql/*/bin/postgres' >/dev/null || compgen -G \
		'/usr/pgsql-*/bin/postgres' >/dev/null || compgen -G \
		'/opt/homebrew/opt/postgresql*/bin/postgres' >/dev/null || compgen -G \
		'/usr/local/opt/postgresql*/bin/postgres' >/dev/null || compgen -G \
		'/Applications/Postgres.app/Contents/Versions/*/bin/postgres' >/dev/null
}

has_node() { command -v node >/dev/null && command -v npm >/dev/null; }

# The places where chromedp looks.
has_chromium() {
	local name
	for name in chromium chromium-browser google-chrome google-chrome-stable \
		'/Applications/Google Chrome.app/Contents/MacOS/Google Chrome' \
		'/Applications/Chromium.app/Contents/MacOS/Chromium'; do
		! command -v "$name" >/dev/null || return 0
	done
	return 1
}

has_curl() { command -v curl >/dev/null; }

has_pgbouncer() { command -v pgbouncer >/dev/null || [ -x /usr/sbin/pgbouncer ]; }

packages() { # of a piece, as $manager calls them
	case "$manager:$1" in
	*:certificates) echo ca-certificates ;;
	apt-get:compiler) echo gcc libc6-dev ;;
	dnf:compiler) echo gcc glibc-devel ;;
	brew:compiler) echo gcc ;;
	apt-get:postgres) echo postgresql ;;
	dnf:postgres) echo postgresql-server ;;
	brew:postgres) echo postgresql@17 ;;
	apt-get:node) command -v node >/dev/null || echo nodejs; echo npm ;;
	dnf:node) echo nodejs nodejs-npm ;;
	brew:node) echo node ;;
	apt-get:chromium | dnf:chromium | brew:chromium) echo chromium ;;
	*:pgbouncer) echo pgbouncer ;;
	*:curl) echo curl ;;
	*:compiler) echo 'a C compiler' ;;
	*:postgres) echo 'PostgreSQL 14 or newer' ;;
	*:node) echo 'Node.js with npm' ;;
	*:chromium) echo Chromium ;;
	esac
}

# Debian's server package sets up and starts a cluster of its own, which nobody
# here needs. The setting that prevents it is in place for the installation only.
install_by_apt() {
	local settings=/etc/postgresql-common/createcluster.d
	local setting="$settings/airtable-replay.conf"
	local made=
	[ -d "$settings" ] || made=yes
	mkdir -p "$settings"
	echo 'create_main_cluster = false' >"$setting"
	local log status=0
	log=$(mktemp)
	{
		apt-get update -qq &&
			DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
				-o DPkg::Lock::Timeout=300 "$@"
	} </dev/null >"$log" 2>&1 || status=$?
	[ "$status" = 0 ] || tail -n 20 "$log" >&2
	rm -f "$setting" "$log"
	[ -z "$made" ] || rmdir --ignore-fail-on-non-empty -p "$settings"
	return "$status"
}

# Without an installed PostgreSQL, internal/localpg downloads one.
can_download_postgres() {
	echo 'PostgreSQL is not installed; trying to download it.' >&2
	go test -count=1 -run '^TestServerAnswersOnLoopbackUntilStopped$' ./internal/localpg >/dev/null 2>&1
}

missing() {
	local piece
	for piece in "$@"; do
		"has_$piece" || echo "$piece"
	done
}

manager=
for candidate in apt-get dnf brew; do
	if command -v "$candidate" >/dev/null; then
		manager=$candidate
		break
	fi
done

lacking=$(missing "$@")
[ -n "$lacking" ] || exit 0

wanted=$(for piece in $lacking; do packages "$piece"; done | paste -sd' ' -)
if [ "$(id -u)" = 0 ] && [ "$manager" = apt-get ]; then
	echo "Installing $wanted." >&2
	# shellcheck disable=SC2086 # one word per package
	install_by_apt $wanted || true # what is missing still is named below
	lacking=$(missing "$@")
fi
if [ "$lacking" = postgres ] && can_download_postgres; then
	exit 0
fi
[ -n "$lacking" ] || exit 0

wanted=$(for piece in $lacking; do packages "$piece"; done | paste -sd' ' -)
case "$manager" in
apt-get) command="apt-get update && apt-get install -y --no-install-recommends $wanted" ;;
dnf) command="dnf install -y $wanted" ;;
brew) command="brew install $wanted" ;;
*)
	echo "Missing here: $wanted. Please install." >&2
	exit 1
	;;
esac
if [ "$manager" != brew ] && [ "$(id -u)" != 0 ]; then
	if command -v sudo >/dev/null; then
		command="sudo sh -c '$command'"
	else
		command="su -c '$command'"
	fi
fi
{
	echo "Something is missing here. This command installs it:"
	echo "  $command"
} >&2
exit 1
