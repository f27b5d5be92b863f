// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/cmd/perflab/cluster"
	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/internal/runs/provenance"
	"perflab.dev/perflab/internal/view/progress"
)

// list shows the experiments of a namespace, or of all.
func (o statusOptions) list(ctx context.Context, out io.Writer, reader client.Reader, namespace string) error {
	experiments, err := cluster.ListExperiments(ctx, reader, o.scope.ListNamespace(namespace))
	if err != nil {
		return err
	}
	if o.output.IsData() {
		states := make([]ExperimentJSON, 0, len(experiments))
		for i := range experiments {
			states = append(states, newExperimentJSON(&experiments[i]))
		}
		return o.output.Write(out, struct {
			Experiments []ExperimentJSON `json:"experiments"`
		}{states})
	}
	if len(experiments) == 0 {
		return o.writeNone(out, namespace)
	}
	return o.writeTable(out, experiments, time.Now())
}

func (o statusOptions) writeNone(out io.Writer, namespace string) error {
	p := console.NewPage(out)
	if o.scope.AllNamespaces {
		p.Line("No experiments found.")
	} else {
		p.Line("No experiments found in namespace %s; use -A for all namespaces.", namespace)
	}
	return p.Err
}

func (o statusOptions) writeTable(out io.Writer, experiments []v1alpha1.PerfExperiment, now time.Time) error {
	rows := [][]string{{"NAME", "PHASE", "RUNS", "VERDICT", "MESSAGE", "AGE"}}
	for i := range experiments {
		experiment := &experiments[i]
		status := &experiment.Status
		rows = append(rows, []string{
			experiment.Name, cmp.Or(string(status.Phase), "-"), cmp.Or(status.Progress, "-"), cmp.Or(status.Verdict, "-"),
			cmp.Or(experimentMessage(experiment), "-"), duration.HumanDuration(now.Sub(experiment.CreationTimestamp.Time)),
		})
	}
	if o.scope.AllNamespaces {
		rows[0] = append([]string{"NAMESPACE"}, rows[0]...)
		for i := range experiments {
			rows[i+1] = append([]string{experiments[i].Namespace}, rows[i+1]...)
		}
	}
	p := console.NewPage(out)
	p.Table(rows, "AGE", "MESSAGE", "VERDICT")
	return p.Err
}

// experimentMessage describes briefly what an experiment does.
func experimentMessage(experiment *v1alpha1.PerfExperiment) string {
	status := &experiment.Status
	switch {
	case provenance.IsImported(experiment):
		return "imported"
	case progress.IsFinished(experiment) && status.Phase != v1alpha1.ExperimentStalled:
		return ""
	case status.Phase == "":
		return "waiting for the operator"
	case status.Current != nil:
		return fmt.Sprintf("%s %s", status.Current.Run, status.Current.Phase)
	default:
		return progress.WaitMessage(status)
	}
}
