// SPDX-License-Identifier: Apache-2.0

// Command perflab plans experiments, compares their results and reports on them
// without a cluster, and runs and follows them in one. As kubectl-perflab on the
// PATH it is a kubectl plugin.
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
	"github.com/spf13/pflag"

	"perflab.dev/perflab/cmd/perflab/compare"
	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/cmd/perflab/doctor"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/cmd/perflab/follow"
	"perflab.dev/perflab/cmd/perflab/plan"
	"perflab.dev/perflab/cmd/perflab/publish"
	"perflab.dev/perflab/cmd/perflab/record"
	"perflab.dev/perflab/internal/planning/repair"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/internal/version"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func execute(ctx context.Context, arguments []string, in io.Reader, out, problems io.Writer) int {
	root := newRoot()
	root.SetArgs(arguments)
	root.SetIn(in)
	output := &console.Outlet{Out: out}
	root.SetOut(output)
	root.PersistentPreRunE = func(command *cobra.Command, _ []string) error { return output.Prepare(command) }
	root.SetErr(problems)
	err := root.ExecuteContext(ctx)
	if fault := output.Close(); err == nil {
		err = fault
	}
	if err == nil {
		return 0
	}
	prefix := console.StyleAt(problems, root.Flag(console.ColorFlag).Value.String()).Paint(console.ColorBad, "perflab:")
	_, _ = fmt.Fprintln(problems, prefix, prose.Printable(err.Error())) // A failed write can't be reported.
	return exit.Code(err)
}

// connectionHelp ends the help of commands that connect to a cluster.
const connectionHelp = `{{if .Flags.Lookup "kubeconfig"}}
The connection flags of kubectl work here too; list them with kubectl options.
{{end}}`

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "perflab",
		Short: "Plan and analyze benchmark experiments on Kubernetes",
		Long: `Plan benchmark experiments, run and follow them in a cluster, compare their results and
write reports.

` + exit.Help(),
		Version:       version.Line("perflab"),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	console.AddTerminalFlags(root.PersistentFlags())
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		var wrong *pflag.InvalidValueError
		if errors.As(err, &wrong) {
			return fmt.Errorf("%w%s", err, repair.Advice(repair.ForType(wrong.GetFlag().Value.Type(), wrong.GetValue())))
		}
		return err
	})
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetUsageTemplate(root.UsageTemplate() + connectionHelp)
	root.AddCommand(plan.New(), follow.NewRun(), follow.NewStatus(), follow.NewView(), follow.NewQueue(), follow.NewSuspend(), follow.NewResume(), follow.NewLogs(), doctor.New(), publish.NewReport(), publish.NewPublish(), publish.NewExport(), record.NewConvert(), record.NewImport(), record.NewVerify(), publish.NewArchive(), compare.NewCompare(), compare.NewHistory(), compare.NewBisect(), compare.NewAnalyze(), compare.NewAudit(), newVersion())
	return root
}
