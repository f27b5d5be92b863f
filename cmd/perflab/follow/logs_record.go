// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"perflab.dev/perflab/cmd/perflab/console"

	corev1 "k8s.io/api/core/v1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/runs/runorder"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
)

// maxRecords is how many runs of an experiment are shown.
const maxRecords = 5

// showRecords shows the records of runs without pods: of the named run, or of an
// experiment's invalid runs and its last run.
func showRecords(ctx context.Context, reader client.Reader, out io.Writer, namespace, name string) error {
	runs, err := listRecords(ctx, reader, namespace, name)
	if err != nil {
		return err
	}
	p := console.NewPage(out)
	for i := range runs {
		kept, err := readKept(ctx, reader, &runs[i])
		if err != nil {
			return err
		}
		writeRecord(p, &runs[i], kept)
	}
	if p.Err != nil {
		return fmt.Errorf("writing: %w", p.Err)
	}
	return nil
}

func listRecords(ctx context.Context, reader client.Reader, namespace, name string) ([]v1alpha1.PerfRun, error) {
	run := v1alpha1.PerfRun{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &run)
	if err == nil {
		return []v1alpha1.PerfRun{run}, nil
	}
	if !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("reading run %q: %w", name, err)
	}
	seen, err := takeSnapshot(ctx, reader, client.ObjectKey{Namespace: namespace, Name: name})
	if err != nil {
		return nil, fmt.Errorf("run %q not found: %w", name, err)
	}
	if len(seen.runs) == 0 {
		return nil, fmt.Errorf("experiment %q in namespace %q: %w: %s", name, namespace, errNoRun, cmp.Or(seen.waitingFor(), "perflab status shows its progress"))
	}
	return notableRuns(seen.runs), nil
}

// notableRuns returns the invalid runs and the last one.
func notableRuns(runs []v1alpha1.PerfRun) []v1alpha1.PerfRun {
	var shown []v1alpha1.PerfRun
	for i, run := range runorder.Sorted(runs) {
		if run.Status.Phase == v1alpha1.RunInvalid || i == len(runs)-1 {
			shown = append(shown, *run)
		}
	}
	return shown[max(0, len(shown)-maxRecords):]
}

// keptData is the stored data of a run's loads, by load.
type keptData struct {
	histograms map[string]*payload.Payload
	// logs are the last log lines of the loads' runners.
	logs map[string]string
}

// readKept reads the stored data of a run's loads. Unreadable data is omitted:
// the record is useful without it.
func readKept(ctx context.Context, reader client.Reader, run *v1alpha1.PerfRun) (keptData, error) {
	found := keptData{histograms: map[string]*payload.Payload{}, logs: map[string]string{}}
	if run.Status.RawResults == "" {
		return found, nil
	}
	var raw corev1.ConfigMap
	err := reader.Get(ctx, client.ObjectKey{Namespace: run.Namespace, Name: run.Status.RawResults}, &raw)
	if apierrors.IsNotFound(err) {
		return found, nil
	}
	if err != nil {
		return found, fmt.Errorf("reading ConfigMap %q: %w", run.Status.RawResults, err)
	}
	for key, body := range raw.BinaryData {
		if key == naming.RawObservations {
			continue
		}
		if histograms, err := payload.Unmarshal(body); err == nil {
			found.histograms[key] = histograms
		}
	}
	for _, load := range run.Status.Loads {
		if log := raw.Data[naming.RawLog(load.Name)]; log != "" {
			found.logs[load.Name] = log
		}
	}
	return found, nil
}

func writeRecord(p *console.Page, run *v1alpha1.PerfRun, kept keptData) {
	status := &run.Status
	p.Line("run %s (arm %s, scenario %s, block %d): %s", run.Name, run.Spec.Arm, run.Spec.Scenario.Name, run.Spec.Block, podsMessage(run))
	p.Line("  %s", strings.TrimSuffix(cmp.Or(string(status.Phase), string(v1alpha1.RunPending))+": "+status.Message, ": "))
	for _, load := range status.Loads {
		writeLoad(p, load)
	}
	for _, name := range slices.Sorted(maps.Keys(kept.logs)) {
		writeLog(p, name, kept.logs[name])
	}
	for _, name := range slices.Sorted(maps.Keys(kept.histograms)) {
		writeKept(p, name, kept.histograms[name])
	}
	for _, warning := range status.Warnings {
		p.Line("  warning: %s", warning)
	}
	writeConditions(p, run)
}

// podsMessage explains why there are no pods.
func podsMessage(run *v1alpha1.PerfRun) string {
	started := func(load v1alpha1.LoadStatus) bool { return load.CreateTime != nil || load.Outcome != "" }
	if slices.ContainsFunc(run.Status.Loads, started) {
		return "the pods of its loads were deleted; this is its record"
	}
	return "no load was started, so there are no logs; this is its record"
}

func writeLoad(p *console.Page, load v1alpha1.LoadStatus) {
	text := cmp.Or(string(load.Outcome), "running")
	if load.Message != "" {
		text += ": " + load.Message
	}
	p.Line("  load %s: %s", load.Name, text)
	if load.StartTime != nil {
		p.Line("    started %s%s", formatTime(load.StartTime.Time), endText(load))
	}
	if last := load.Progress; last != nil {
		p.Line("    last reported, %s: %s, %s requests/s, %s %% errors", formatTime(last.Time.Time),
			prose.Counted(last.Users, "user"), last.RequestsPerSecond, last.ErrorPercent)
	}
}

func endText(load v1alpha1.LoadStatus) string {
	if load.FinishTime == nil {
		return ""
	}
	return ", ended " + formatTime(load.FinishTime.Time)
}

func formatTime(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05Z") }

// writeLog shows the last log lines of a load's runners.
func writeLog(p *console.Page, load, lines string) {
	p.Line("  load %s logged last", load)
	for line := range strings.Lines(lines) {
		p.Line("    %s", strings.TrimRight(line, "\n"))
	}
}

// writeKept summarizes the results that a load's runners printed.
func writeKept(p *console.Page, load string, kept *payload.Payload) {
	until := "to its end"
	if !kept.Final {
		until = "to a checkpoint before its end"
	}
	p.Line("  measured by load %s over %s, %s", load, kept.End.Sub(kept.Start).Round(time.Second), until)
	rows := [][]string{{"  transaction", "samples", "errors", "average", "p95", "max"}}
	for _, name := range kept.Transactions() {
		all, _ := kept.Summary(name, "")
		failed, _ := kept.Summary(name, payload.Error)
		row := []string{"  " + name, fmt.Sprint(all.Count), fmt.Sprint(failed.Count), "-", "-", "-"}
		if worked, any := kept.Summary(name, payload.OK); any {
			row = append(row[:3], formatMilliseconds(worked.Mean), formatMilliseconds(worked.P95), formatMilliseconds(worked.Max))
		}
		rows = append(rows, row)
	}
	if len(rows) > 1 {
		p.Table(rows)
	}
}

func formatMilliseconds(length time.Duration) string {
	return fmt.Sprintf("%.4g ms", float64(length)/float64(time.Millisecond))
}

func writeConditions(p *console.Page, run *v1alpha1.PerfRun) {
	if len(run.Status.Conditions) == 0 {
		return
	}
	rows := [][]string{{"condition", "status", "reason", "message"}}
	for _, condition := range run.Status.Conditions {
		rows = append(rows, []string{condition.Type, string(condition.Status), condition.Reason, condition.Message})
	}
	p.Table(rows)
}
