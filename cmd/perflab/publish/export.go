// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"github.com/spf13/cobra"

	"perflab.dev/perflab/cmd/perflab/cluster"
	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/internal/report"
)

// NewExport returns the command export.
func NewExport() *cobra.Command {
	var from *cluster.Cluster
	command := &cobra.Command{
		Use:   "export NAME",
		Short: "Export the results of an experiment",
		Long: `Write an experiment, its runs, their raw results, all digests, and its notes as one
YAML stream. perflab report -f and perflab verify read it without a cluster; perflab
import records it in another cluster.

You need the rights to read PerfExperiments, PerfRuns and ConfigMaps in the namespace.

Exit codes: 0 success, 1 failure.`,
		Example: `  perflab export maxram-vs-xmx -n lab > maxram-vs-xmx.yaml`,
		Args:    cobra.ExactArgs(1),
		RunE:    func(command *cobra.Command, arguments []string) error { return export(command, from, arguments[0]) },
	}
	from = cluster.New(command.Flags())
	command.ValidArgsFunction = cluster.CompleteExperiment(from)
	return command
}

func export(command *cobra.Command, from *cluster.Cluster, name string) error {
	recorded, err := from.Fetch(command.Context(), name)
	if err != nil {
		return err
	}
	out := console.NewSink(command)
	return out.Finish("the recorded objects", report.Write(out, recorded))
}
