// SPDX-License-Identifier: Apache-2.0

// Command release builds releases: archives of the command line with a krew manifest,
// images, the chart, SBOMs, and checksums. The same source and the same Go version give the
// same bytes. It downloads only Go modules.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes, for scripts.
const (
	exitFailed = 1
	// exitVulnerable means that a released program calls code with a known vulnerability.
	exitVulnerable = 3
	// exitNotChecked means that the vulnerability database was unreachable.
	exitNotChecked = 69
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log.SetOutput(io.Discard) // Helm logs every link in the chart.
	err := newRoot().ExecuteContext(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
	}
	os.Exit(code(err))
}

func code(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errVulnerable):
		return exitVulnerable
	case errors.Is(err, errNotChecked):
		return exitNotChecked
	default:
		return exitFailed
	}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "release",
		Short:         "Build and check releases of PerfLab",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newBuild(), newSign(), newPush(), newLicences(), newVulnerabilities())
	return root
}
