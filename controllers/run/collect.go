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

// maxRawBytes keeps the ConfigMap of raw results within the API server's limit.
const maxRawBytes = 900 << 10

// maxLoadBytes is the share of one load.
const maxLoadBytes = 512 << 10

// logTimeout bounds reading the logs of a run in one reconcile. An unresponsive node makes the
// run invalid instead of blocking it, and other runs that read logs.
const logTimeout = 2 * time.Minute

// +kubebuilder:rbac:groups="",resources=configmaps,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=pods/log,verbs=get

// stepCollect reads the results from the runners' logs, stores them in a ConfigMap and computes
// the observations, once.
func (r *Reconciler) stepCollect(ctx context.Context, s *scope) (outcome, error) {
	status := s.status()
	if status.RawResults != "" {
		return next(), nil
	}
	if status.Timings.CollectStart == nil {
		// An earlier reconcile may have started and failed to read a log.
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
	results.SetDisturbed(measured, status.Faults)
	s.setFault(results.CheckFaults(&s.run.Spec.Scenario, status.Faults, measured))
	analyzeStart := r.Now()
	observations, err := s.recordObservations(measured)
	if err != nil {
		return outcome{}, err
	}
	if err := r.storeRawResults(ctx, s, rawResults{measured, observations, logs}); err != nil {
		return outcome{}, err
	}
	s.setReadiness(v1alpha1.ConditionResultsKept, environment.Ready("the results are stored"))
	status.Durations = runDurations(status.Timings)
	status.Durations.Collect = metav1.Duration{Duration: analyzeStart.Sub(status.Timings.CollectStart.Time)}
	status.Durations.Analyze = metav1.Duration{Duration: r.Now().Sub(analyzeStart)}
	return next(), nil
}

// readLoad merges the results of all runners of a load and collects their log lines. It fails
// if a log cannot be read for now.
func (r *Reconciler) readLoad(ctx context.Context, s *scope, wanted v1alpha1.Load, logs map[string]string) (results.Measured, *results.Fault, error) {
	status := s.load(wanted.Name)
	runners, err := r.runnerPods(ctx, s.run, status.TestRun)
	if err != nil {
		return results.Measured{}, nil, err
	}
	var parts runnerOutput
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
			Message: fmt.Sprintf("load %q: %d of %s have results", wanted.Name, len(runners), prose.Counted(want, "runner")),
		}, nil
	}
	own, err := parts.measured(status)
	if err != nil {
		return results.Measured{}, results.Unreadable(fmt.Sprintf("load %q", wanted.Name), err), nil
	}
	return own, nil, nil
}

// runnerPods returns the pods that k6-operator created for a TestRun of the run. Others may set
// their labels and print anything.
func (r *Reconciler) runnerPods(ctx context.Context, run *v1alpha1.PerfRun, name string) ([]corev1.Pod, error) {
	testRun, err := r.testRun(ctx, run, name)
	if err != nil || testRun == nil {
		return nil, err
	}
	jobs, err := r.loadJobs(ctx, testRun)
	if err != nil {
		return nil, err
	}
	pods, err := r.Cluster.Pods(ctx, run.Namespace, runnerLabels(name))
	if err != nil {
		return nil, fmt.Errorf("listing the runners of TestRun %q: %w", name, err)
	}
	return loadLineage(testRun, jobs).Pods(pods), nil
}

func runnerLabels(testRun string) client.MatchingLabels {
	return client.MatchingLabels{contract.LabelTestRun: testRun, contract.LabelRunner: "true"}
}

// runnerOutput is what the runners of a load printed.
type runnerOutput struct {
	results.LogResults
	logs strings.Builder
}

// maxLogBytes bounds the log lines that are stored of a load's runners.
const maxLogBytes = 16 << 10

func (p *runnerOutput) addLogLines(runner string, lines []payload.LogLine) {
	for _, line := range lines {
		if text := fmt.Sprintf("%s: %s: %s\n", runner, line.Level, line.Text); p.logs.Len()+len(text) <= maxLogBytes {
			p.logs.WriteString(text)
		}
	}
}

func (p *runnerOutput) measured(status *v1alpha1.LoadStatus) (results.Measured, error) {
	var start, end metav1.Time
	if status.StartTime != nil && status.FinishTime != nil {
		start, end = *status.StartTime, *status.FinishTime
	}
	return p.Measured(start.Time, end.Time)
}

func (r *Reconciler) readRunner(ctx context.Context, s *scope, pod corev1.Pod, wanted v1alpha1.Load, into *runnerOutput) error {
	ctx, cancel := context.WithDeadline(ctx, s.logDeadline)
	defer cancel()
	log, err := r.Logs.Log(ctx, pod.Namespace, pod.Name, contract.RunnerContainer)
	if err != nil {
		return err
	}
	heard := teeLog(log)
	err = into.Read(heard, wanted, results.Source{Run: s.run.Name, Load: wanted.Name, Pod: pod.Name})
	if err == nil {
		s.recordLog(runnerLog(&pod, wanted.Name, into.Last()))
	}
	into.addLogLines(pod.Name, heard.lines())
	return errors.Join(err, log.Close())
}

// rawResults are stored with a run for later analysis.
type rawResults struct {
	measured map[string]results.Measured
	// observations has all observations as JSON if the status does not.
	observations []byte
	// logs are the log lines of runners, by load.
	logs map[string]string
}

// binaryData returns what fits into a ConfigMap, and the names of what does not.
func (k rawResults) binaryData() (data map[string][]byte, dropped []string) {
	data = map[string][]byte{}
	total := 0
	for _, text := range k.textData() {
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
		encoded, err := fitHistograms(k.measured[name].Histograms)
		if err != nil || total+len(encoded) > maxRawBytes {
			dropped = append(dropped, name)
			continue
		}
		total += len(encoded)
		data[name] = encoded
	}
	return data, dropped
}

// textData returns the log lines of the loads, by key.
func (k rawResults) textData() map[string]string {
	texts := map[string]string{}
	for name, logs := range k.logs {
		if logs != "" {
			texts[naming.RawLog(name)] = logs
		}
	}
	return texts
}

// storeRawResults stores merged histograms, for other analyses, and log lines. Histograms that
// do not fit are left out and named: the run is valid without them, and a retry would not help.
func (r *Reconciler) storeRawResults(ctx context.Context, s *scope, kept rawResults) error {
	data, dropped := kept.binaryData()
	raw := newRecord(s.run, naming.RawResults(s.run.Name), dropped)
	raw.Data, raw.BinaryData = kept.textData(), data
	if err := r.Cluster.ApplyTyped(ctx, raw); err != nil {
		return err
	}
	s.status().RawResults = raw.Name
	return s.recordDigest(raw)
}

// newRecord returns a ConfigMap that the run owns. An annotation names what is left out.
func newRecord(run *v1alpha1.PerfRun, name string, leftOut []string) *corev1.ConfigMap {
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

// fitHistograms encodes the histograms of a load within its share: merged histograms may be
// larger than those of each runner.
func fitHistograms(histograms *payload.Payload) ([]byte, error) {
	small, err := histograms.Fit(maxLoadBytes)
	if err != nil {
		return nil, err
	}
	return payload.Marshal(small)
}

// setLoadTimes replaces the observed start and end of the loads by the measured ones.
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

// warn adds a warning once.
func (s *scope) warn(sentence string) {
	status := s.status()
	if len(status.Warnings) < component.MaxWarnings && !slices.Contains(status.Warnings, sentence) {
		status.Warnings = append(status.Warnings, sentence)
	}
}

// checkClocks rejects results of a runner whose clock is wrong.
func (s *scope) checkClocks(measured map[string]results.Measured) {
	for _, wanted := range s.run.Spec.Scenario.Loads {
		made := s.load(wanted.Name).CreateTime.Time
		s.setFault(results.CheckClock(wanted.Name, measured[wanted.Name], made, s.status().Timings.CollectStart.Time))
	}
}

// recordObservations stores the observations in the status and returns all of them, as JSON, if
// they do not fit.
func (s *scope) recordObservations(measured map[string]results.Measured) ([]byte, error) {
	spec := s.run.Spec
	if spec.Scenario.Capacity != nil {
		return s.recordCapacity(measured)
	}
	observations := append(s.costObservations(), s.observeServers(measured)...)
	observations = append(observations, results.Observe(spec.Scenario.Loads, measured, spec.Measurement)...)
	for _, wanted := range spec.Scenario.Loads {
		tally := results.TallyOf(wanted, measured, spec.Measurement)
		status := s.load(wanted.Name)
		status.Requests, status.Checks = tally.Requests.Status(), tally.Checks.Status()
	}
	afterFaults, sentences := results.ObserveFaults(&spec.Scenario, measured, spec.Measurement, s.status().Faults)
	lags, lagSentences := results.ObserveLags(&spec.Scenario, measured, spec.Measurement, s.samples, s.status().Faults)
	afterFaults = append(afterFaults, lags...)
	for _, sentence := range append(sentences, lagSentences...) {
		s.warn(sentence)
	}
	judged := results.Judge(spec.Scenario.Loads, measured, spec.Measurement, spec.Validity)
	s.setFault(judged.Fault)
	if judged.Fault == nil {
		observations = judged.Counting(observations)
		s.leaveOut(judged.LeftOut())
	}
	observations = append(observations, afterFaults...)
	for _, sentence := range results.Warnings(observations) {
		s.warn(sentence)
	}
	for _, sentence := range results.LateIterations(spec.Scenario.Loads, measured) {
		s.warn(sentence)
	}
	s.adviseWarmUp(results.StillWarming(spec.Scenario.Loads, measured, spec.Measurement))
	return s.storeObservations(observations)
}

// leaveOut records the parts of the run that do not count.
func (s *scope) leaveOut(parts []v1alpha1.LeftOut) {
	s.status().LeftOut = parts
	for _, part := range parts {
		s.warn("left out " + results.DescribeLeftOut(part))
	}
}

// adviseWarmUp records the warm-up that all loads need.
func (s *scope) adviseWarmUp(warming []results.Warming) {
	for _, load := range warming {
		s.warn(load.Message)
		if advised := s.status().AdvisedWarmUp; advised == nil || load.WarmUp > advised.Duration {
			s.status().AdvisedWarmUp = &metav1.Duration{Duration: load.WarmUp}
		}
	}
}

// recordCapacity stores the capacity that the run found. Its levels may fail: overload is what they
// look for.
func (s *scope) recordCapacity(measured map[string]results.Measured) ([]byte, error) {
	spec := &s.run.Spec
	for _, load := range spec.Scenario.Loads {
		s.setFault(results.CheckComplete(load, measured[load.Name]))
	}
	s.summarizeServers(measured)
	found, observed, fault := results.ObserveCapacity(spec, measured, s.samples)
	s.setFault(fault)
	if fault == nil {
		s.status().Capacity = found
		load, _ := spec.Scenario.Capacity.LoadOf(spec.Scenario.Loads)
		for _, sentence := range results.CapacityWarnings(found, load) {
			s.warn(sentence)
		}
	}
	return s.storeObservations(append(s.costObservations(), observed...))
}

// storeObservations stores in the status what fits and returns all as JSON if there are more.
func (s *scope) storeObservations(observations []v1alpha1.Observation) ([]byte, error) {
	kept, err := results.SelectForStatus(observations)
	if err != nil {
		return nil, err
	}
	for _, sentence := range kept.Warnings {
		s.warn(sentence)
	}
	s.status().Observations = kept.Status
	return kept.Raw, nil
}

// stepFinish records that the run needs no more work.
func (r *Reconciler) stepFinish(_ context.Context, s *scope) (outcome, error) {
	s.status().Timings.Finish = &metav1.Time{Time: r.Now()}
	return next(), nil
}

// stepEnd ends the run.
func (r *Reconciler) stepEnd(_ context.Context, s *scope) (outcome, error) {
	s.finished = true
	return next(), nil
}

// runDurations are the differences of the timings. A step that was not reached took no time.
func runDurations(timings v1alpha1.RunTimings) *v1alpha1.RunDurations {
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

// deleteFinished deletes the k6 objects of a valid run, whose results are stored. Those of an
// invalid run stay for troubleshooting.
func (r *Reconciler) deleteFinished(ctx context.Context, run *v1alpha1.PerfRun) error {
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
	return r.deleteCollector(ctx, run)
}
