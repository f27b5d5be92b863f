// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/cmd/perflab/cluster"
	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/cmd/perflab/source"
	"perflab.dev/perflab/internal/inference/crosscompare"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/planning/bisect"
)

// maxParts is the default maximum of arms for parts, which fits into a night.
const maxParts = 6

type bisectOptions struct {
	from  *cluster.Cluster
	arm   string
	name  string
	parts int
}

// NewBisect returns the command bisect.
func NewBisect() *cobra.Command {
	options := bisectOptions{}
	command := &cobra.Command{
		Use:   "bisect BEFORE AFTER",
		Short: "Write the experiment that finds the cause of a regression",
		Long: `Write an experiment that finds which part of a change made a release slower. Its arms
are the system of BEFORE, the system of AFTER, and the system of BEFORE with each part
that differs: Kafka, PostgreSQL, each module. BEFORE and AFTER are each NAME or
NAMESPACE/NAME in the cluster, or a file that perflab export wrote; perflab history
shows them around a change.

Scenarios, design and question are those of AFTER. What no arm can set, such as a new
module, is in a comment. With more parts than --parts, adjacent parts share an arm: run
the command again for the arm that is the cause.`,
		Example: `  perflab bisect heap-2026-2 heap-2026-3 -n lab > which.yaml
  perflab bisect before.yaml after.yaml --arm small | perflab run -f -`,
		Args: cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, arguments []string) error { return options.run(command, arguments) },
	}
	flags := command.Flags()
	options.from = cluster.New(flags)
	source.AddMaxMemoryFlag(flags)
	flags.StringVar(&options.arm, "arm", "", "arm whose systems are compared (default: the baseline)")
	flags.StringVar(&options.name, "name", "", "name of the experiment (default: the name of AFTER and -bisect)")
	flags.IntVar(&options.parts, "parts", maxParts, "maximum number of arms for parts")
	return command
}

func (o *bisectOptions) run(command *cobra.Command, arguments []string) error {
	if o.parts < 1 || o.parts > 30 {
		return fmt.Errorf("%w: --parts %d must be from 1 to 30", exit.ErrOption, o.parts)
	}
	in, err := source.CommandInput(command)
	if err != nil {
		return err
	}
	var records [2]crosscompare.ExperimentRuns
	var systems [2]v1alpha1.System
	for i, argument := range arguments {
		if records[i], err = source.ReadRecord(command.Context(), o.from, in, argument); err != nil {
			return err
		}
		if systems[i], err = o.armSystem(&records[i]); err != nil {
			return err
		}
	}
	plan, err := bisect.New(systems[0], systems[1], o.parts)
	if err != nil {
		return fmt.Errorf("%s and %s: %w", arguments[0], arguments[1], err)
	}
	out := console.NewSink(command)
	return out.Finish("the experiment", writeBisect(out, plan, o.experiment(records[1].Experiment, systems[0], plan)))
}

// armSystem returns the system of the arm's runs.
func (o *bisectOptions) armSystem(record *crosscompare.ExperimentRuns) (v1alpha1.System, error) {
	all := arms.Recorded(record.Experiment.Status.Arms)
	armName := o.arm
	if baseline, found := arms.Baseline(all); armName == "" && found {
		armName = baseline.Name
	}
	system := arms.RecordedSystem(record.Runs, armName)
	if system == nil {
		var names []string
		for _, arm := range all {
			names = append(names, arm.Name)
		}
		return v1alpha1.System{}, fmt.Errorf("%w: experiment %q has no run of arm %q; it has %s", exit.ErrOption, record.Experiment.Name, armName, strings.Join(names, ", "))
	}
	return *system, nil
}

// experiment has AFTER's question, the system of BEFORE and an arm for each part.
// Like a hand-written manifest, it has no status.
func (o *bisectOptions) experiment(after *v1alpha1.PerfExperiment, before v1alpha1.System, plan *bisect.Plan) any {
	spec := after.Spec.DeepCopy()
	spec.Question = "Which change is the cause?"
	spec.System, spec.SystemRef, spec.Matrix, spec.Notes = before, nil, nil, nil
	spec.Arms = plan.Arms()
	spec.Design.Seed, spec.Suspend = nil, false
	return map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": cluster.ExperimentKind,
		"metadata": map[string]string{"name": cmp.Or(o.name, after.Name+"-bisect")},
		"spec":     spec,
	}
}

func writeBisect(out io.Writer, plan *bisect.Plan, experiment any) error {
	text := &strings.Builder{}
	// A line break would end the comment.
	comment := func(indent, line string) {
		fmt.Fprintf(text, "#%s %s\n", indent, strings.Join(strings.Fields(line), " "))
	}
	list := func(title string, differences []v1alpha1.Difference) {
		comment("", title)
		for _, one := range differences {
			comment("  ", fmt.Sprintf("%s: %s -> %s", one.Setting, cmp.Or(one.Baseline, "not set"), cmp.Or(one.Arm, "not set")))
		}
	}
	for i := range plan.Parts {
		name := plan.Parts[i].Name
		if len(plan.Parts) == 1 {
			name = bisect.After
		}
		list(fmt.Sprintf("arm %s", name), plan.Parts[i].Differences)
	}
	if len(plan.Left) > 0 {
		list("not set by any arm", plan.Left)
	}
	manifest, err := yaml.Marshal(experiment)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s%s", text, manifest)
	return err
}
