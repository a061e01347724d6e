package main

import (
	"fmt"
	"runtime/debug"
)

// release is set by the linker.
var release string

// versionCommand prints the version.
type versionCommand struct{}

// Run implements the command.
func (versionCommand) Run(p *process) error {
	fmt.Fprintln(p.stdout, version())
	return nil
}

// version is the release, or what the toolchain knows about the build.
func version() string {
	if release != "" {
		return release
	}
	if build, ok := debug.ReadBuildInfo(); ok && build.Main.Version != "" {
		return build.Main.Version
	}
	return "unknown"
}
