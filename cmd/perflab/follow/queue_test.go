// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
)

// inLine is an experiment in the queue.
func inLine(namespace, name string, status v1alpha1.PerfExperimentStatus) v1alpha1.PerfExperiment {
	made := v1alpha1.PerfExperiment{Status: status}
	made.Namespace, made.Name = namespace, name
	return made
}

func TestQueue(t *testing.T) {
	experiments := []v1alpha1.PerfExperiment{
		inLine("lab", "partitions", v1alpha1.PerfExperimentStatus{
			Progress: "0/12", Lane: &v1alpha1.LaneStatus{Name: "the cluster", Position: 2, Behind: "team-a/heap"},
		}),
		inLine("team-a", "heap", v1alpha1.PerfExperimentStatus{
			Progress: "4/24", Lane: &v1alpha1.LaneStatus{Name: "the cluster", Position: 1, Behind: "team-b/kraft"},
		}),
		inLine("team-b", "kraft", v1alpha1.PerfExperimentStatus{
			Progress: "7/12", Lane: &v1alpha1.LaneStatus{Name: "the cluster"},
			Current: &v1alpha1.CurrentRun{Run: "kraft-b4-zookeeper-5lbv2gt4", Phase: v1alpha1.RunLoading},
		}),
		inLine("team-c", "heap", v1alpha1.PerfExperimentStatus{
			Progress: "8/8", Lane: &v1alpha1.LaneStatus{Name: "lane m5"}, Phase: v1alpha1.ExperimentComplete, WaitingFor: "waiting for the environment to be deleted",
		}),
		inLine("team-b", "done", v1alpha1.PerfExperimentStatus{Progress: "6/6"}),
	}
	var out strings.Builder
	expect.NoError(t, writeQueue(&out, queuedExperiments(experiments)))
	want := `
  LANE         POSITION     EXPERIMENT      RUNS  MESSAGE
  lane m5      cleaning up  team-c/heap     8/8   waiting for the environment to be deleted
  the cluster  measuring    team-b/kraft    7/12  kraft-b4-zookeeper-5lbv2gt4 Loading
  the cluster  first        team-a/heap     4/24  behind team-b/kraft
  the cluster  second       lab/partitions  0/12  behind team-a/heap
`
	expect.Equal(t, strings.TrimPrefix(want, "\n"), out.String())
}

func TestQueueIsEmpty(t *testing.T) {
	var out strings.Builder
	expect.NoError(t, writeQueue(&out, queuedExperiments([]v1alpha1.PerfExperiment{inLine("lab", "done", v1alpha1.PerfExperimentStatus{})})))
	if out.String() != "No experiments are running or queued.\n" {
		t.Errorf("got %q", out.String())
	}
}
