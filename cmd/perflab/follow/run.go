// SPDX-License-Identifier: Apache-2.0

// Package follow has the commands that run experiments in a cluster and follow them.
package follow

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/cmd/perflab/cluster"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/cmd/perflab/source"
)

var errOneExperiment = errors.New("run follows one experiment")

type runOptions struct {
	cluster  *cluster.Cluster
	files    []string
	from     string
	noFollow bool
	follow   followOptions
}

// NewRun returns the command run.
func NewRun() *cobra.Command {
	options := runOptions{}
	command := &cobra.Command{
		Use:   "run -f FILE... | --from schedule/NAME",
		Short: "Apply an experiment, or create one from a schedule, and follow it",
		Long: `Apply the objects in files, one of which is a PerfExperiment, by server-side apply, and
follow the experiment until it is complete. Ctrl-C ends the command, not the
experiment.

With --from, create an experiment from the template of a PerfSchedule now, regardless
of its schedule, as kubectl create job --from does. The experiment belongs to the
schedule. You need the rights to use what it names.

Exit codes: 0 the experiment is complete, 1 failure, 2 a manifest is invalid, 4 the
experiment is stalled, 6 with --fail-on worse: an arm is worse, 9 --timeout expired.`,
		Example: `  kubectl perflab run -f experiment.yaml
  kubectl perflab run -f system.yaml -f experiment.yaml --namespace lab
  kubectl perflab run -f experiment.yaml --fail-on worse
  kubectl perflab run -f experiment.yaml --no-follow
  kubectl perflab run --from schedule/nightly`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return options.run(command) },
	}
	options.cluster = cluster.New(command.Flags())
	source.AddMaxMemoryFlag(command.Flags())
	command.Flags().StringArrayVarP(&options.files, "file", "f", nil, `file with objects; "-" is standard input; repeatable`)
	command.Flags().StringVar(&options.from, "from", "", "schedule/NAME: create an experiment from this PerfSchedule now")
	command.Flags().BoolVar(&options.noFollow, "no-follow", false, "apply and return")
	options.follow.addFlags(command.Flags())
	command.MarkFlagsOneRequired("file", "from")
	command.MarkFlagsMutuallyExclusive("file", "from")
	return command
}

func (o runOptions) run(command *cobra.Command) error {
	if err := o.follow.check(); err != nil {
		return err
	}
	if o.from != "" {
		return o.runFrom(command)
	}
	ctx := command.Context()
	var objects []*unstructured.Unstructured
	in, err := source.CommandInput(command)
	if err != nil {
		return err
	}
	for _, path := range o.files {
		found, err := source.ReadDocuments(in, path)
		if err != nil {
			return err
		}
		objects = append(objects, found...)
	}
	experiment, err := onlyExperiment(objects)
	if err != nil {
		return err
	}
	writer, namespace, err := o.cluster.Reader()
	if err != nil {
		return err
	}
	screen := newScreen(command.OutOrStdout())
	for _, object := range objects {
		if err := source.Apply(ctx, writer, object, namespace); err != nil {
			return err
		}
		screen.note(fmt.Sprintf("%s %q applied", object.GetKind(), object.GetName()))
	}
	if o.noFollow {
		return nil
	}
	return follow(ctx, writer, client.ObjectKeyFromObject(experiment), screen, o.follow)
}

func onlyExperiment(objects []*unstructured.Unstructured) (*unstructured.Unstructured, error) {
	var found *unstructured.Unstructured
	for _, object := range objects {
		if object.GetKind() != cluster.ExperimentKind {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%w, but the files have %q and %q: pass one of them, or use kubectl apply", errOneExperiment, found.GetName(), object.GetName())
		}
		found = object
	}
	if found == nil {
		return nil, exit.ErrNoExperiment
	}
	return found, nil
}
