// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
	"perflab.dev/perflab/payload"
)

// lengthened makes the runs beside users last three hours. In the arm, check-ins slow down by 40
// ms per hour; elsewhere they stay constant.
func lengthened(t *testing.T) report.Input {
	t.Helper()
	input := recorded.Experiment(seed)
	for i := range input.Runs {
		run := &input.Runs[i]
		if run.Status.Phase != v1alpha1.RunSucceeded || run.Spec.Scenario.Name != recorded.ConcurrentScenario {
			continue
		}
		slower := float64(run.Spec.Block%3) - 1
		if run.Spec.Arm == recorded.Arm {
			slower += 40
		}
		start := run.Status.Timings.LoadStart.Time
		run.Status.Timings.LoadFinish = &metav1.Time{Time: start.Add(3 * time.Hour)}
		replaceRaw(t, input.Raw, naming.RawResults(run.Name), growing(run.Name, start, slower))
	}
	return input
}

// remeasured changes the measurements of a steady load, in the runs of one arm or of every arm.
func remeasured(t *testing.T, input report.Input, arm string, change func(run *v1alpha1.PerfRun, start time.Time, own *payload.Payload)) {
	t.Helper()
	for i := range input.Runs {
		run := &input.Runs[i]
		if arm != "" && run.Spec.Arm != arm || run.Spec.Scenario.Name != recorded.ConcurrentScenario || run.Status.Phase != v1alpha1.RunSucceeded {
			continue
		}
		start := run.Status.Timings.LoadStart.Time
		own := growing(run.Name, start, 0)
		change(run, start, own)
		replaceRaw(t, input.Raw, naming.RawResults(run.Name), own)
	}
}

func growing(run string, start time.Time, slower float64) *payload.Payload {
	own := payload.New("cico", run, "1", start)
	for passed := time.Duration(0); passed < 3*time.Hour; passed += 10 * time.Second {
		took := 500 + slower*passed.Hours()
		own.Record("Check-In", payload.OK, start.Add(passed), time.Duration(took*float64(time.Millisecond)))
	}
	own.End, own.Final = start.Add(3*time.Hour), true
	return own
}

func replaceRaw(t *testing.T, raw []corev1.ConfigMap, name string, own *payload.Payload) {
	t.Helper()
	body, err := payload.Marshal(own)
	expect.NoError(t, err)
	for i := range raw {
		if raw[i].Name == name {
			raw[i].BinaryData["cico"] = body
			return
		}
	}
	t.Fatalf("no raw results %q", name)
}

func TestLongRunsTellHowThingsChangeOverTime(t *testing.T) {
	page := written(t, reportOf(t, lengthened(t)), "report.md")
	_, after, found := strings.Cut(page, "Change per hour of load under "+recorded.ConcurrentScenario)
	if !found || strings.Count(page, "Change per hour of load under") != 1 {
		t.Fatal("want one table over time, of the scenario whose runs are long")
	}
	_, sentence, _ := strings.Cut(after, "Growth by")
	sentence, _, _ = strings.Cut(sentence, "\n")
	expect.Contains(t, sentence, []string{"Check-In average response time (" + recorded.Arm + ")", "memory of mod-inventory (xmx, xmx-twin and maxram-66)", "This suggests a leak"})
	if !strings.Contains(after, "| Check-In average response time | `"+recorded.Arm+"` | 6 | +39.97\u00a0ms/h |") {
		t.Errorf("check-ins got slower by 40 ms per hour:\n%s", after[:2000])
	}
}

func TestShortRunsTellNothingOfTime(t *testing.T) {
	if page := written(t, reportOf(t, recorded.Experiment(seed)), "report.md"); strings.Contains(page, "hange per hour") {
		t.Error("twenty minutes tell how things change over time")
	}
}
