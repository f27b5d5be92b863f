// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/cmd/perflab/cluster"
	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/cmd/perflab/source"
	"perflab.dev/perflab/internal/runs/provenance"
	"perflab.dev/perflab/internal/view/progress"
)

// experimentTypes are kubectl's names for a PerfExperiment.
var experimentTypes = []string{"experiment", "perfexperiment", "perfexperiments", "perfexperiments.perflab.dev", "pexp"}

// suspendOptions select objects and their spec.suspend.
type suspendOptions struct {
	cluster *cluster.Cluster
	suspend bool
	// verb and done are words for it: suspend, suspended.
	verb, done string
	all        bool
	cluster.Scope
}

// NewSuspend returns the command suspend.
func NewSuspend() *cobra.Command {
	return newSuspension(suspendOptions{suspend: true, verb: "suspend", done: "suspended"}, "Suspend an experiment after its current run", `Suspend experiments after their current run (spec.suspend). The current run finishes
and is valid. schedule/NAME suspends a PerfSchedule: it creates no further experiments,
and running experiments continue.`)
}

// NewResume returns the command resume.
func NewResume() *cobra.Command {
	return newSuspension(suspendOptions{verb: "resume", done: "resumed"}, "Resume a suspended experiment", `Resume suspended experiments where they stopped (spec.suspend). schedule/NAME resumes a
PerfSchedule.`)
}

func newSuspension(options suspendOptions, short, long string) *cobra.Command {
	command := &cobra.Command{
		Use:   options.verb + " {NAME... | schedule/NAME... | --all}",
		Short: short,
		Long: long + `

--all selects every unfinished experiment of the namespace, with -A of all namespaces.
Those that are already ` + options.done + ` do not change.

Exit codes: 0 success, 1 failure.`,
		Example: fmt.Sprintf("  kubectl perflab %[1]s pubsub-partitions -n lab\n  kubectl perflab %[1]s schedule/nightly -n lab\n  kubectl perflab %[1]s --all -A", options.verb),
		RunE: func(command *cobra.Command, arguments []string) error {
			return options.run(command.Context(), command.OutOrStdout(), arguments)
		},
	}
	options.cluster = cluster.New(command.Flags())
	options.AddFlags(command.Flags())
	command.Flags().BoolVar(&options.all, "all", false, "all unfinished experiments")
	command.ValidArgsFunction = cluster.CompleteExperiments(options.cluster)
	return command
}

func (o *suspendOptions) run(ctx context.Context, out io.Writer, arguments []string) error {
	switch {
	case o.all == (len(arguments) > 0):
		return fmt.Errorf("%w: set either names to %s or --all", exit.ErrOption, o.verb)
	case o.AllNamespaces && !o.all:
		return fmt.Errorf("%w: a name belongs to one namespace: remove -A, or use --all instead of the name", exit.ErrOption)
	}
	writer, namespace, err := o.cluster.Reader()
	if err != nil {
		return err
	}
	if o.all {
		return o.setAll(ctx, out, writer, o.ListNamespace(namespace))
	}
	var faults []error
	for _, argument := range withTypes(arguments) {
		kind, name, err := parseKindAndName(argument)
		if err == nil {
			err = o.set(ctx, out, writer, kind, client.ObjectKey{Namespace: namespace, Name: name})
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// withTypes adds the type to each name: kubectl also accepts TYPE NAME....
func withTypes(arguments []string) []string {
	kind := strings.ToLower(arguments[0])
	if len(arguments) == 1 || !slices.Contains(experimentTypes, kind) && !slices.Contains(scheduleTypes, kind) {
		return arguments
	}
	var whole []string
	for _, name := range arguments[1:] {
		whole = append(whole, kind+"/"+name)
	}
	return whole
}

// parseKindAndName parses NAME or TYPE/NAME, as kubectl does.
func parseKindAndName(argument string) (kind, name string, err error) {
	prefix, name, whole := strings.Cut(argument, "/")
	switch prefix = strings.ToLower(prefix); {
	case !whole:
		return cluster.ExperimentKind, argument, nil
	case name != "" && slices.Contains(experimentTypes, prefix):
		return cluster.ExperimentKind, name, nil
	case name != "" && slices.Contains(scheduleTypes, prefix):
		return cluster.ScheduleKind, name, nil
	}
	return "", "", fmt.Errorf("%w: %q must be NAME, experiment/NAME or schedule/NAME; set the namespace with -n", exit.ErrOption, argument)
}

func (o *suspendOptions) setAll(ctx context.Context, out io.Writer, writer client.Client, namespace string) error {
	experiments, err := cluster.ListExperiments(ctx, writer, namespace)
	if err != nil {
		return err
	}
	var faults []error
	for i := range experiments {
		if !progress.IsFinished(&experiments[i]) && !provenance.IsImported(&experiments[i]) {
			faults = append(faults, o.set(ctx, out, writer, cluster.ExperimentKind, client.ObjectKeyFromObject(&experiments[i])))
		}
	}
	return errors.Join(faults...)
}

// set sets spec.suspend of one object.
func (o *suspendOptions) set(ctx context.Context, out io.Writer, writer client.Client, kind string, key client.ObjectKey) error {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	if err := writer.Get(ctx, key, object); err != nil {
		return cluster.ReadError(err, kind, key)
	}
	p := console.NewPage(out)
	line := fmt.Sprintf("%s.%s/%s %s", strings.ToLower(kind), v1alpha1.GroupVersion.Group, key.Name, o.done)
	if current, _, _ := unstructured.NestedBool(object.Object, "spec", "suspend"); current == o.suspend {
		p.Line("%s (no change)", line)
		return p.Err
	}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"suspend":%t}}`, o.suspend))
	if err := writer.Patch(ctx, object, patch, source.FieldOwner); err != nil {
		return fmt.Errorf("%s %q could not be %s: %w", kind, key.Name, o.done, err)
	}
	p.Line("%s", line)
	return p.Err
}
