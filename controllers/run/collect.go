// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
)

// maxRawBytes keeps the ConfigMap of raw results within what the API server
// stores.
const maxRawBytes = 900 << 10

// maxLoadBytes is what one load may take of that.
const maxLoadBytes = 512 << 10

// logTimeout bounds reading the logs of a run in one pass, whose turn it is: a node that
// has gone silent makes the run invalid instead of holding it, and holds up no other run.
const logTimeout = 2 * time.Minute

// stepCollect reads what the runners measured from their logs, keeps it in a
// ConfigMap and turns it into observations, once.
func (r *Reconciler) stepCollect(ctx context.Context, s *scope) (outcome, error) {
	status := s.status()
	if status.RawResults != "" {
		return next(), nil
	}
	if status.Timings.CollectStart == nil {
		// Who could not read a log has begun before.
		status.Timings.CollectStart = &metav1.Time{Time: r.Now()}
	}
	measured := map[string]results.Measured{}
	logs := map[string]string{}
	for _, wanted := range s.run.Spec.Scenario.Loads {
		own, fault, err := r.readLoad(ctx, s, wanted, logs)
		if err != nil {
			return outcome{}, err
		}
		if fault != nil {
			s.fault = fault
			return next(), nil
		}
		measured[wanted.Name] = own
	}
	if s.checkClocks(measured); s.fault == nil {
		s.setLoadTimes(measured)
	}
	analyzeStart := r.Now()
	observations, err := s.observe(measured)
	if err != nil {
		return outcome{}, err
	}
	if err := r.keepRaw(ctx, s, kept{measured, observations, logs}); err != nil {
		return outcome{}, err
	}
	s.tell(v1alpha1.ConditionResultsKept, environment.Ready("what was measured is kept"))
	status.Durations = durations(status.Timings)
	status.Durations.Collect = metav1.Duration{Duration: analyzeStart.Sub(status.Timings.CollectStart.Time)}
	status.Durations.Analyze = metav1.Duration{Duration: r.Now().Sub(analyzeStart)}
	return next(), nil
}

// readLoad adds up what all runners of a load printed, and notes what they told
// of their logs. It fails where a log can't be read for now.
func (r *Reconciler) readLoad(ctx context.Context, s *scope, wanted v1alpha1.Load, logs map[string]string) (results.Measured, *results.Fault, error) {
	status := s.load(wanted.Name)
	runners, err := r.runners(ctx, s.run, status.TestRun)
	if err != nil {
		return results.Measured{}, nil, err
	}
	var parts runnersResults
	for _, pod := range runners {
		err := r.readRunner(ctx, s, pod, wanted, &parts)
		if kube.IsLogUnavailable(err) {
			return results.Measured{}, nil, err
		}
		if err != nil {
			return results.Measured{}, results.Unreadable(fmt.Sprintf("load %q, runner %q,", wanted.Name, pod.Name), err), nil
		}
	}
	logs[wanted.Name] = parts.logs.String()
	if want := int(wanted.ParallelismOrDefault()); len(runners) != want {
		return results.Measured{}, &results.Fault{
			Reason:  v1alpha1.ReasonResultsMissing,
			Message: fmt.Sprintf("load %q: %d of %s left results", wanted.Name, len(runners), prose.Counted(want, "runner")),
		}, nil
	}
	own, err := parts.measured(status)
	if err != nil {
		return results.Measured{}, results.Unreadable(fmt.Sprintf("load %q", wanted.Name), err), nil
	}
	return own, nil, nil
}

// runners are the pods that k6-operator has made for a TestRun of the run's: others can have
// their labels, and print what they like.
func (r *Reconciler) runners(ctx context.Context, run *v1alpha1.PerfRun, name string) ([]corev1.Pod, error) {
	testRun, err := r.testRun(ctx, run, name)
	if err != nil || testRun == nil {
		return nil, err
	}
	jobs, err := r.jobsOf(ctx, testRun)
	if err != nil {
		return nil, err
	}
	pods, err := r.Cluster.Pods(ctx, run.Namespace, runnerLabels(name))
	if err != nil {
		return nil, fmt.Errorf("looking for the runners of TestRun %q: %w", name, err)
	}
	return lineageOf(testRun, jobs).Pods(pods), nil
}

func runnerLabels(testRun string) client.MatchingLabels {
	return client.MatchingLabels{contract.LabelTestRun: testRun, contract.LabelRunner: "true"}
}

// runnersResults are what the runners of a load printed.
type runnersResults struct {
	results.Gathered
	logs strings.Builder
}

// maxLogBytes are kept of what the runners of a load told of their logs.
const maxLogBytes = 16 << 10

func (p *runnersResults) tell(runner string, lines []payload.LogLine) {
	for _, line := range lines {
		if text := fmt.Sprintf("%s: %s: %s\n", runner, line.Level, line.Text); p.logs.Len()+len(text) <= maxLogBytes {
			p.logs.WriteString(text)
		}
	}
}

func (p *runnersResults) measured(status *v1alpha1.LoadStatus) (results.Measured, error) {
	var start, end metav1.Time
	if status.StartTime != nil && status.FinishTime != nil {
		start, end = *status.StartTime, *status.FinishTime
	}
	return p.Measured(start.Time, end.Time)
}

func (r *Reconciler) readRunner(ctx context.Context, s *scope, pod corev1.Pod, wanted v1alpha1.Load, into *runnersResults) error {
	ctx, cancel := context.WithDeadline(ctx, s.readUntil)
	defer cancel()
	log, err := r.Logs.Log(ctx, pod.Namespace, pod.Name, contract.RunnerContainer)
	if err != nil {
		return err
	}
	heard := overhear(log)
	err = into.Read(heard, wanted, results.Source{Run: s.run.Name, Load: wanted.Name, Pod: pod.Name})
	if err == nil {
		s.note(ofRunner(&pod, wanted.Name, into.Last()))
	}
	into.tell(pod.Name, heard.lines())
	return errors.Join(err, log.Close())
}

// kept is what a run leaves to be looked at again.
type kept struct {
	measured map[string]results.Measured
	// observations are all, as JSON, where the status does not hold them.
	observations []byte
	// logs are what runners told of theirs, by load.
	logs map[string]string
}

// binary is what fits into a ConfigMap, and the names of what does not.
func (k kept) binary() (data map[string][]byte, dropped []string) {
	data = map[string][]byte{}
	total := 0
	for _, text := range k.texts() {
		total += len(text)
	}
	if len(k.observations) > 0 {
		total += len(k.observations)
		data[naming.RawObservations] = k.observations
	}
	for _, name := range slices.Sorted(maps.Keys(k.measured)) {
		if k.measured[name].Histograms == nil {
			continue
		}
		encoded, err := fitted(k.measured[name].Histograms)
		if err != nil || total+len(encoded) > maxRawBytes {
			dropped = append(dropped, name)
			continue
		}
		total += len(encoded)
		data[name] = encoded
	}
	return data, dropped
}

// texts are what the loads told, by key.
func (k kept) texts() map[string]string {
	texts := map[string]string{}
	for name, logs := range k.logs {
		if logs != "" {
			texts[naming.RawLog(name)] = logs
		}
	}
	return texts
}

// keepRaw stores the merged histograms, so that results can be looked at again
// in other ways, and the loads' last words. Histograms that don't fit are left
// out and named: the run counts without them, and no further try would make them
// smaller.
func (r *Reconciler) keepRaw(ctx context.Context, s *scope, kept kept) error {
	data, dropped := kept.binary()
	raw := recordOf(s.run, naming.RawResults(s.run.Name), dropped)
	raw.Data, raw.BinaryData = kept.texts(), data
	if err := r.Cluster.ApplyTyped(ctx, raw); err != nil {
		return err
	}
	s.status().RawResults = raw.Name
	return s.noteKept(raw)
}

// recordOf is a ConfigMap that goes with a run. What was left out of it is named
// in an annotation.
func recordOf(run *v1alpha1.PerfRun, name string, leftOut []string) *corev1.ConfigMap {
	record := &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Name:            name,
			Namespace:       run.Namespace,
			Labels:          naming.RunLabels(run),
			OwnerReferences: []metav1.OwnerReference{naming.Owner("PerfRun", run)},
		},
	}
	if len(leftOut) > 0 {
		record.Annotations = map[string]string{v1alpha1.AnnotationLeftOut: strings.Join(leftOut, ",")}
	}
	return record
}

// fitted are the histograms of a load in as many bytes as it may take: what
// several runners gave may be larger than what each of them printed.
func fitted(histograms *payload.Payload) ([]byte, error) {
	small, err := histograms.Fit(maxLoadBytes)
	if err != nil {
		return nil, err
	}
	return payload.Marshal(small)
}

// setLoadTimes replaces what was seen of the loads' start and end by what they
// measured themselves.
func (s *scope) setLoadTimes(measured map[string]results.Measured) {
	timings := &s.status().Timings
	timings.LoadStart, timings.LoadFinish = nil, nil
	for name, own := range measured {
		start, end := metav1.NewTime(own.Start), metav1.NewTime(own.End)
		status := s.load(name)
		status.StartTime, status.FinishTime = &start, &end
		if timings.LoadStart == nil || start.Before(timings.LoadStart) {
			timings.LoadStart = &start
		}
		if timings.LoadFinish == nil || timings.LoadFinish.Before(&end) {
			timings.LoadFinish = &end
		}
	}
}

// warn notes once what makes the run tell less than it could.
func (s *scope) warn(sentence string) {
	status := s.status()
	if len(status.Warnings) < component.MaxWarnings && !slices.Contains(status.Warnings, sentence) {
		status.Warnings = append(status.Warnings, sentence)
	}
}

// checkClocks refuses what was measured by a clock that tells another time.
func (s *scope) checkClocks(measured map[string]results.Measured) {
	for _, wanted := range s.run.Spec.Scenario.Loads {
		made := s.load(wanted.Name).CreateTime.Time
		s.blame(results.CheckClock(wanted.Name, measured[wanted.Name], made, s.status().Timings.CollectStart.Time))
	}
}

// observe puts the observations into the status and gives all of them, as JSON,
// where it does not hold them.
func (s *scope) observe(measured map[string]results.Measured) ([]byte, error) {
	spec := s.run.Spec
	observations := append(s.costs(), s.observeServers(measured)...)
	observations = append(observations, results.Observe(spec.Scenario.Loads, measured, spec.Measurement)...)
	for _, wanted := range spec.Scenario.Loads {
		tally := results.TallyOf(wanted, measured, spec.Measurement)
		status := s.load(wanted.Name)
		status.Requests, status.Checks = tally.Requests.Status(), tally.Checks.Status()
	}
	judged := results.Judge(spec.Scenario.Loads, measured, spec.Measurement, spec.Validity)
	s.blame(judged.Fault)
	if judged.Fault == nil {
		observations = judged.Counting(observations)
		for _, sentence := range judged.Warnings() {
			s.warn(sentence)
		}
	}
	for _, sentence := range results.Warnings(observations) {
		s.warn(sentence)
	}
	for _, sentence := range results.StillWarming(spec.Scenario.Loads, measured, spec.Measurement) {
		s.warn(sentence)
	}
	return s.keepObservations(observations)
}

// keepObservations puts into the status what it holds, and gives all as JSON where there are more.
func (s *scope) keepObservations(observations []v1alpha1.Observation) ([]byte, error) {
	kept, err := results.Keep(observations)
	if err != nil {
		return nil, err
	}
	for _, sentence := range kept.Warnings {
		s.warn(sentence)
	}
	s.status().Observations = kept.Status
	return kept.Raw, nil
}

// stepFinish notes that nothing is to be done for the run any more.
func (r *Reconciler) stepFinish(_ context.Context, s *scope) (outcome, error) {
	s.status().Timings.Finish = &metav1.Time{Time: r.Now()}
	return next(), nil
}

// stepEnd ends the run.
func (r *Reconciler) stepEnd(_ context.Context, s *scope) (outcome, error) {
	s.over = true
	return next(), nil
}

// durations are the differences of the timings; a step that was not reached
// took no time.
func durations(timings v1alpha1.RunTimings) *v1alpha1.RunDurations {
	between := func(from, to *metav1.Time) metav1.Duration {
		if from == nil || to == nil {
			return metav1.Duration{}
		}
		return metav1.Duration{Duration: to.Sub(from.Time)}
	}
	return &v1alpha1.RunDurations{
		Provision: between(timings.ProvisionStart, timings.Provisioned),
		Ready:     between(timings.Provisioned, timings.Ready),
		LoadStart: between(timings.Ready, timings.LoadStart),
		Load:      between(timings.LoadStart, timings.LoadFinish),
	}
}

// tidy takes away the k6 objects of a run that counts: what they measured is
// kept. Those of an invalid run stay for people to look at.
func (r *Reconciler) tidy(ctx context.Context, run *v1alpha1.PerfRun) error {
	if run.Status.Phase != v1alpha1.RunSucceeded {
		return nil
	}
	for _, status := range run.Status.Loads {
		testRun, err := r.Cluster.Get(ctx, contract.TestRunKind, client.ObjectKey{Namespace: run.Namespace, Name: status.TestRun})
		if err != nil {
			return err
		}
		if testRun == nil {
			continue
		}
		if err := r.Cluster.Delete(ctx, run, testRun); err != nil {
			return err
		}
	}
	return r.tidyCollector(ctx, run)
}
