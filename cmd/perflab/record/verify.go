// SPDX-License-Identifier: Apache-2.0

package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/cmd/perflab/cluster"
	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/cmd/perflab/source"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/runs/evidence"
	"perflab.dev/perflab/internal/runs/provenance"
)

type verifyOptions struct {
	from   *cluster.Cluster
	format string
	digest string
	all    bool
}

// NewVerify returns the command verify.
func NewVerify() *cobra.Command {
	options := verifyOptions{}
	command := &cobra.Command{
		Use:   "verify EXPERIMENT|FILE",
		Short: "Verify the recorded results of an experiment",
		Long: `Verify that the results of an experiment are as they were recorded. The experiment is
NAME or NAMESPACE/NAME in the cluster, or a file that perflab export wrote (.yaml, .yml
or .json; .gz if compressed; "-" is standard input).

The chain of SHA-256 digests begins with the manifest, whose own digest is in the
report and in the experiment's status. It leads to the plan, the record of each run,
the results of each run, the answer and the stored report. The first broken link is
shown, with --all every one.

The digests are not signed: a user who may write all objects can rebuild the chain,
but not with the same digest of the manifest. With --digest, check the one that was
published on a page or in the operator's log.

You need the rights to read PerfExperiments, PerfRuns and ConfigMaps in the namespace.

Exit codes: 0 the chain holds, 1 failure, 2 the recorded objects are invalid, 7 a link
is broken, 8 there is no chain. Without a chain, no block is complete yet, or PerfLab
did not record digests when the experiment was measured.`,
		Example: `  perflab verify maxram-vs-xmx -n lab
  perflab verify maxram-vs-xmx.yaml --digest 4f0e2c8d…
  perflab verify archive/maxram-vs-xmx --all -o json`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error { return options.run(command, arguments[0]) },
	}
	flags := command.Flags()
	options.from = cluster.New(flags)
	command.ValidArgsFunction = cluster.CompleteExperiment(options.from)
	flags.StringVarP(&options.format, "output", "o", console.FormatTable, "output format: table, markdown or json")
	source.AddMaxMemoryFlag(flags)
	flags.StringVar(&options.digest, "digest", "", "published SHA-256 of the manifest")
	flags.BoolVar(&options.all, "all", false, "show all broken links, not only the first")
	return command
}

var digestFormat = regexp.MustCompile("^[0-9a-f]{64}$")

func (o *verifyOptions) run(command *cobra.Command, argument string) error {
	if err := console.CheckFormat(o.format); err != nil {
		return err
	}
	if o.digest = strings.ToLower(o.digest); o.digest != "" && !digestFormat.MatchString(o.digest) {
		return fmt.Errorf("%w: --digest %q: write the 64 hexadecimal digits printed in the report", exit.ErrOption, o.digest)
	}
	found, err := o.find(command, argument)
	if err != nil {
		return err
	}
	found.Published = o.digest
	name := found.Experiment.Namespace + "/" + found.Experiment.Name
	result, err := evidence.Verify(*found)
	if origin := provenance.Elsewhere(found.Experiment); origin != "" && errors.Is(err, evidence.ErrNoChain) {
		return fmt.Errorf("experiment %q: %w: it was %s, so PerfLab can't verify it; the annotation %s of each run has the SHA-256 of its file", name, exit.ErrNoDigests, origin, v1alpha1.AnnotationElsewhere)
	}
	if err != nil {
		return fmt.Errorf("experiment %q: %w", name, err)
	}
	out := console.NewSink(command)
	if err := out.Finish("the result", o.write(out, name, result)); err != nil {
		return err
	}
	if len(result.Broken) > 0 {
		return fmt.Errorf("experiment %q: %w: %s", name, exit.ErrDigestMismatch, result.Broken[0])
	}
	return nil
}

// find reads the records of an experiment from the cluster or a file.
func (o *verifyOptions) find(command *cobra.Command, argument string) (*evidence.Input, error) {
	if argument == source.StandardInput || source.IsRecordedFile(argument) || source.IsFile(argument) {
		in, err := source.CommandInput(command)
		if err != nil {
			return nil, err
		}
		recorded, err := source.ReadOneRecorded(in, argument)
		if err != nil {
			return nil, err
		}
		return recorded.Evidence()
	}
	reader, key, err := o.from.Resolve(argument)
	if err != nil {
		return nil, err
	}
	recorded, err := cluster.Fetch(command.Context(), reader, key.Namespace, key.Name)
	if err != nil {
		return nil, err
	}
	if err := cluster.FetchKept(command.Context(), reader, &recorded); err != nil {
		return nil, err
	}
	return foundInCluster(command.Context(), reader, &recorded)
}

// foundInCluster computes the digests of one run after the other: all raw
// results together could exceed the memory.
func foundInCluster(ctx context.Context, reader client.Reader, recorded *report.Input) (*evidence.Input, error) {
	found, err := recorded.Evidence()
	if err != nil {
		return nil, err
	}
	for i := range recorded.Runs {
		raw, err := kube.RawResults(ctx, reader, &recorded.Runs[i])
		if err != nil {
			return nil, err
		}
		for j := range raw {
			if err := found.AddContent(&raw[j]); err != nil {
				return nil, err
			}
		}
	}
	stored, err := cluster.ConfigMap(ctx, reader, recorded.Experiment.Namespace, naming.Report(recorded.Experiment.Name))
	if err != nil {
		return nil, err
	}
	sum := ""
	if stored != nil {
		sum, err = evidence.ContentDigest(stored)
	}
	found.Report = &sum
	return found, err
}

func (o *verifyOptions) write(out io.Writer, name string, result *evidence.Result) error {
	shown := result.Broken
	if !o.all {
		shown = shown[:min(len(shown), 1)]
	}
	if o.format == console.FormatJSON {
		return writeVerifiedJSON(out, name, result, shown)
	}
	sheet := &console.Sheet{Page: *console.NewPage(out), Markdown: o.format == console.FormatMarkdown}
	writeVerified(sheet, name, result, shown)
	return sheet.Err
}
