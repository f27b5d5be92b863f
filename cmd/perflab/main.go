// SPDX-License-Identifier: Apache-2.0

// Command perflab plans experiments, compares their results and reports on them
// without a cluster, and runs and follows them in one. As kubectl-perflab on the
// PATH it is a plugin of kubectl's.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"perflab.dev/perflab/internal/audit"
	"perflab.dev/perflab/internal/comparison"
	"perflab.dev/perflab/internal/evidence"
	"perflab.dev/perflab/internal/prose"
	"perflab.dev/perflab/internal/report"
)

// Exit codes, for scripts: each has one meaning in all commands.
const (
	exitFailed = 1
	// exitInvalid: the manifest is not one the cluster would accept, or the
	// observations or recorded objects can't be used.
	exitInvalid = 2
	// exitSlips: published deltas do not follow, and that is to fail.
	exitSlips = 3
	// exitStalled: the experiment needs a person.
	exitStalled = 4
	// exitUnlike: two experiments' baselines could not be shown to be alike.
	exitUnlike = 5
	// exitBroken: what was recorded is not what it was.
	exitBroken = 7
	// exitNoChain: nobody kept digests of what was recorded.
	exitNoChain = 8
	// exitRegression: an arm is worse than the baseline, and that is to fail.
	exitRegression = 6
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Who asks twice does not wait for a computation.
	context.AfterFunc(ctx, stop)
	os.Exit(execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func execute(ctx context.Context, arguments []string, in io.Reader, out, problems io.Writer) int {
	root := newRoot()
	root.SetArgs(arguments)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(problems)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintln(problems, "perflab:", prose.Printable(err.Error())) // Nobody is left to tell.
	if errors.Is(err, errInvalid) || errors.Is(err, comparison.ErrRows) || errors.Is(err, audit.ErrRows) || errors.Is(err, report.ErrInput) || errors.Is(err, evidence.ErrManifest) {
		return exitInvalid
	}
	if errors.Is(err, errRegression) {
		return exitRegression
	}
	if errors.Is(err, errBroken) {
		return exitBroken
	}
	if errors.Is(err, evidence.ErrNoChain) {
		return exitNoChain
	}
	if errors.Is(err, errStalled) {
		return exitStalled
	}
	if errors.Is(err, errUnlike) {
		return exitUnlike
	}
	if errors.Is(err, errSlips) {
		return exitSlips
	}
	return exitFailed
}

// connectionHelp ends the help of the commands that talk to a cluster.
const connectionHelp = `{{if .Flags.Lookup "kubeconfig"}}
The cluster is reached as by kubectl, whose other flags for it (kubectl options) work here too.
{{end}}`

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "perflab",
		Short:         "Plan and analyze benchmark experiments on Kubernetes",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetUsageTemplate(root.UsageTemplate() + connectionHelp)
	root.AddCommand(newPlan(), newRun(), newStatus(), newQueue(), newLogs(), newDoctor(), newReport(), newPublish(), newExport(), newImport(), newVerify(), newCompare(), newAnalyze(), newAudit(), newVersion())
	return root
}
