// SPDX-License-Identifier: Apache-2.0

// Package gocommand calls the go command so that its result depends only on the source and
// the version of Go.
package gocommand

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"perflab.dev/perflab/hack/release/internal/product"
)

// Output runs go and returns its output. The zero platform is the platform of this machine.
func Output(ctx context.Context, directory string, platform product.Platform, arguments ...string) ([]byte, error) {
	var out, problems bytes.Buffer
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir, command.Env = directory, environment(platform)
	command.Stdout, command.Stderr = &out, &problems
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("go %s in %s for %s: %w\n%s", strings.Join(arguments, " "), directory, platform, err, problems.Bytes())
	}
	return out.Bytes(), nil
}

// environment returns the environment without variables that would change the result and
// differ between users.
func environment(platform product.Platform) []string {
	var kept []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		switch name {
		case "GOFLAGS", "GOEXPERIMENT", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOFIPS140", "GODEBUG", "GOWORK", "CGO_ENABLED":
		default:
			kept = append(kept, variable)
		}
	}
	kept = append(kept, "CGO_ENABLED=0", "GOFLAGS=-mod=readonly -buildvcs=false", "GOWORK=off", "GOAMD64=v1", "GOARM64=v8.0")
	if platform.OS != "" {
		kept = append(kept, "GOOS="+platform.OS, "GOARCH="+platform.Arch)
	}
	return kept
}
