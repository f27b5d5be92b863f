// SPDX-License-Identifier: Apache-2.0

// Package record has the commands that convert, import and verify records.
package record

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/cmd/perflab/cluster"
	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/cmd/perflab/source"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/runs/provenance"
	"perflab.dev/perflab/internal/text/prose"
)

type importOptions struct {
	to      *cluster.Cluster
	sources []string
}

// NewImport returns the command import.
func NewImport() *cobra.Command {
	options := importOptions{}
	command := &cobra.Command{
		Use:   "import -f FILE [NAME...]",
		Short: "Import exported experiments into a cluster",
		Long: `Import experiments that perflab export wrote into a cluster, with their runs, raw
results and status, so that perflab status, report, compare and export work on them.
All experiments of the files are imported, or only the named ones.

Nothing is started: an imported experiment is a record that the operator ignores,
whether or not it had ended. Its annotation perflab.dev/imported states where and when
it came from. kubectl delete perfexperiment deletes it.

An incomplete import is rolled back. You need the rights to get, create and delete
PerfExperiments, to list and create PerfRuns, to create ConfigMaps, and to update
perfexperiments/status and perfruns/status in the namespace.

Exit codes: 0 success, 1 failure, 2 the recorded objects are invalid.`,
		Example: `  perflab import -f maxram-vs-xmx.yaml -n archive
  perflab export maxram-vs-xmx --context lab | perflab import -f - --context office -n archive
  perflab import -f exports/ maxram-vs-xmx kraft-vs-zookeeper -n archive`,
		RunE: func(command *cobra.Command, names []string) error { return options.run(command, names) },
	}
	flags := command.Flags()
	options.to = cluster.New(flags)
	source.AddMaxMemoryFlag(flags)
	flags.StringArrayVarP(&options.sources, "file", "f", nil, `file or folder with recorded objects; "-" is standard input; repeatable`)
	if err := command.MarkFlagRequired("file"); err != nil {
		panic(err)
	}
	return command
}

func (o *importOptions) run(command *cobra.Command, names []string) error {
	in, err := source.CommandInput(command)
	if err != nil {
		return err
	}
	inputs, err := source.ReadRecorded(in, o.sources)
	if err != nil {
		return err
	}
	if inputs, err = selectImports(inputs, names); err != nil {
		return err
	}
	to, namespace, err := o.to.Reader()
	if err != nil {
		return err
	}
	// Check all before writing the first.
	records := make([]*imported, 0, len(inputs))
	for _, input := range inputs {
		record, err := NewImported(input, namespace, time.Now())
		if err != nil {
			return err
		}
		key := client.ObjectKeyFromObject(record.experiment)
		err = to.Get(command.Context(), key, &v1alpha1.PerfExperiment{})
		if err == nil {
			return nameTakenError(record.experiment)
		}
		if err := cluster.ReadError(err, cluster.ExperimentKind, key); !errors.Is(err, cluster.ErrNotFound) {
			return err
		}
		records = append(records, record)
	}
	for _, record := range records {
		if err := (&Importer{To: to, Timeout: collectionTimeout}).Write(command.Context(), record); err != nil {
			return err
		}
		if err := record.writeSummary(command); err != nil {
			return err
		}
	}
	return nil
}

// selectImports selects experiments by name; all without names.
func selectImports(inputs []report.Input, names []string) ([]report.Input, error) {
	chosen, err := source.SelectByName(inputs, inputs, names)
	if err != nil {
		return nil, err
	}
	from := map[string]string{}
	for _, input := range chosen {
		experiment := &input.Experiment
		if other, twice := from[experiment.Name]; twice {
			return nil, fmt.Errorf("%w: the files have %q in the namespaces %q and %q: import them one by one, each into a separate namespace with -n", exit.ErrOption, experiment.Name, other, experiment.Namespace)
		}
		from[experiment.Name] = experiment.Namespace
	}
	return chosen, nil
}

// writeSummary writes what was imported and what was omitted.
func (r *imported) writeSummary(command *cobra.Command) error {
	p := console.NewPage(command.OutOrStdout())
	p.Line("PerfExperiment %q of %s/%s imported into namespace %q: %s, %s", r.experiment.Name, r.from.Namespace, r.from.Name,
		r.experiment.Namespace, prose.Counted(len(r.runs), "run"), prose.Counted(r.rawResults(), "ConfigMap")+" with raw results")
	if origin := provenance.Elsewhere(r.experiment); origin != "" {
		p.Line("  it was %s", origin)
	}
	if r.unfinished > 0 {
		p.Line("  %s unfinished at the export: imported runs do not continue", prose.Counted(r.unfinished, "run"))
	}
	for _, name := range r.leftOut {
		p.Line("  ConfigMap %q omitted: no run refers to it", name)
	}
	if p.Err != nil {
		return fmt.Errorf("writing: %w", p.Err)
	}
	return nil
}
