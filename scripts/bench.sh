#!/usr/bin/env bash
# Runs benchmarks and gathers every figure that has a target in one table.
# Arguments are go test's; without any, all benchmarks of the module run.
set -euo pipefail
cd "$(dirname "$0")/.."

out=$(mktemp)
trap 'rm -f "$out"' EXIT
${GO:-go} test -run '^$' -bench . -timeout 120m "${@:-./...}" | tee "$out"

awk '
/^Benchmark/ {
	name = $1; sub(/^Benchmark/, "", name); sub(/-[0-9]+$/, "", name)
	for (i = 3; i < NF; i += 2) value[$(i + 1)] = $i
	for (unit in value)
		if (("target-" unit) in value) {
			floor = ("floor-" unit) in value ? value["floor-" unit] : "-"
			verdict = value[unit] + 0 <= value["target-" unit] + 0 ? "within" : "above"
			line[++lines] = sprintf("%-34s %-26s %10s %10s %8s  %s", name, unit, value[unit], value["target-" unit], floor, verdict)
		}
	delete value
}
END {
	if (!lines) exit
	printf "\n%-34s %-26s %10s %10s %8s\n", "budget", "figure", "measured", "target", "floor"
	for (i = 1; i <= lines; i++) print line[i]
}' "$out"
