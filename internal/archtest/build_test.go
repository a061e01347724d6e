package archtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
)

// targets are what `make` must offer, each described in its help.
var targets = []string{"demo", "run", "dev", "test", "race", "lint", "generate", "verify", "bench", "golden", "sandbox", "clean", "help", "build"}

func TestMakeTargetsAreDescribed(t *testing.T) {
	t.Parallel()
	makefile := content(t, "Makefile")
	for _, target := range targets {
		require.Regexp(t, `(?m)^`+target+`:[^#\n]* ## \S`, makefile, "a described target")
		require.Contains(t, makefile, "\n.PHONY: "+target+"\n")
	}
}

func TestScriptsStopAtTheFirstError(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob(filepath.Join(root, "scripts", "*.sh"))
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	for _, script := range append(scripts, filepath.Join(root, ".ci", "run")) {
		info, err := os.Stat(script)
		require.NoError(t, err)
		require.NotZero(t, info.Mode()&0o111, "%s is executable", script)
		text, err := os.ReadFile(script)
		require.NoError(t, err)
		require.Regexp(t, `^#!/usr/bin/env bash\n(# .*\n)+set -euo pipefail\n`, string(text), script)
	}
}

func TestEveryLinterHasItsReason(t *testing.T) {
	t.Parallel()
	_, list, ok := strings.Cut(content(t, ".golangci.yml"), "\n  enable:\n")
	require.True(t, ok)
	list, _, ok = strings.Cut(list, "\n\n")
	require.True(t, ok)
	for line := range strings.Lines(list) {
		require.Regexp(t, `^    - \w+ +# \S`, line)
	}
	require.Regexp(t, `golangci-lint@v\d+\.\d+\.\d+\n`, content(t, "Makefile"), "a pinned version")
}

func TestImageIsPinnedAndUnprivileged(t *testing.T) {
	t.Parallel()
	dockerfile := content(t, "Dockerfile")
	requireKept(t, imageBreaches(dockerfile))
	release := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(content(t, "go.mod"))
	require.NotNil(t, release)
	require.Contains(t, dockerfile, "FROM golang:"+release[1]+"-", "the release of go.mod")
}

func TestImageRulesFindBreaches(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ dockerfile, want string }{
		"good":         {"FROM golang:1.26 AS build\nFROM scratch\nCOPY --from=build /a /a\nUSER 65532:65532\n", ""},
		"latest":       {"FROM alpine:latest\nUSER 65532\n", "alpine:latest"},
		"no tag":       {"FROM alpine\nUSER 65532\n", "alpine is not pinned"},
		"copied":       {"FROM scratch\nCOPY --from=busybox /bin/wget /a\nUSER 65532\n", "busybox is not pinned"},
		"root":         {"FROM scratch\nUSER root\n", "runs as root"},
		"zero":         {"FROM scratch\nUSER 0:0\n", "runs as root"},
		"nobody":       {"FROM scratch\n", "runs as root"},
		"only earlier": {"FROM alpine:3.22 AS build\nUSER 65532\nFROM scratch\n", "runs as root"},
	} {
		requireFound(t, name, c.want, imageBreaches(c.dockerfile))
	}
}

func TestComposedServicesAreWatched(t *testing.T) {
	t.Parallel()
	var composed struct {
		Services map[string]struct {
			Image       string
			Healthcheck struct{ Test []string }
			Ports       []string
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(content(t, "compose.yaml")), &composed))
	require.Contains(t, composed.Services, "postgres")
	require.Contains(t, composed.Services, "replay")
	for name, service := range composed.Services {
		require.NotEmpty(t, service.Healthcheck.Test, "%s has a health check", name)
		if service.Image != "" {
			require.True(t, pinned(service.Image), service.Image)
		}
		for _, port := range service.Ports {
			require.True(t, strings.HasPrefix(port, "127.0.0.1:"), "%s listens on this machine alone", name)
		}
	}
}

var (
	stage  = regexp.MustCompile(`(?m)^FROM (\S+)(?: AS (\S+))?$`)
	copied = regexp.MustCompile(`(?m)^COPY --from=(\S+)`)
	runsAs = regexp.MustCompile(`(?m)^USER (\S+)$`)
)

// imageBreaches wants images with a fixed tag and, in the last stage, a numeric
// user other than root, which is all that orchestrators can check.
func imageBreaches(dockerfile string) []string {
	var breaches []string
	known := map[string]bool{"scratch": true}
	for _, from := range stage.FindAllStringSubmatch(dockerfile, -1) {
		if !known[from[1]] && !pinned(from[1]) {
			breaches = append(breaches, fmt.Sprintf("image %s is not pinned", from[1]))
		}
		known[from[2]] = true
	}
	for _, from := range copied.FindAllStringSubmatch(dockerfile, -1) {
		if !known[from[1]] && !pinned(from[1]) {
			breaches = append(breaches, fmt.Sprintf("image %s is not pinned", from[1]))
		}
	}
	last := dockerfile[strings.LastIndex(dockerfile, "FROM "):]
	user := runsAs.FindStringSubmatch(last)
	if user == nil || !regexp.MustCompile(`^[1-9]\d*(:[1-9]\d*)?$`).MatchString(user[1]) {
		breaches = append(breaches, "the image runs as root, or as a user without a number")
	}
	return breaches
}

func pinned(image string) bool {
	_, tag, tagged := strings.Cut(image, ":")
	return tagged && tag != "latest"
}

// content reads a file of the module's root.
func content(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return string(text)
}
