// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/workloads"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/measure/collector"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
)

const (
	// collectorStartTimeout bounds how long loads wait for the collector. They then start
	// without it; the samples show the gap.
	collectorStartTimeout = time.Minute
	// collectorEndTimeout bounds how long a collector may take to end after the loads, beside
	// waiting for late samples. After it, its output so far is used.
	collectorEndTimeout = 30 * time.Second
	// collectorLogTimeout bounds how long after the loads its log may be unreadable. After it,
	// the servers count as unmeasured.
	collectorLogTimeout = 2 * time.Minute
	// collectorPollInterval is how often an ending collector is checked.
	collectorPollInterval = time.Second
	// maxStatements bounds the PostgreSQL statements in a run's status.
	maxStatements = 10
	// maxNotes bounds the notes about missing measurements.
	maxNotes = 32
)

// +kubebuilder:rbac:groups="",resources=serviceaccounts,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=rolebindings,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=clusterroles,verbs=bind,resourceNames=perflab-collector
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;patch

// stepCollector starts the collector before the first load and waits until it runs.
func (r *Reconciler) stepCollector(ctx context.Context, s *scope) (outcome, error) {
	if r.CollectorImage == "" || s.hasStartedLoads() {
		return next(), nil
	}
	existing, err := r.ensureCollector(ctx, s)
	if err != nil {
		return outcome{}, err
	}
	pods, err := r.collectorPods(ctx, s.run)
	if err != nil {
		return outcome{}, err
	}
	if slices.ContainsFunc(pods, hasStarted) {
		return next(), nil
	}
	if refusal := r.collectorRefusal(ctx, s, existing, pods); refusal != nil {
		s.setReadiness(v1alpha1.ConditionLoadsComplete, *refusal)
		return s.notReady("the collector", *refusal).pollAfter(component.RefusalRetryInterval), nil
	}
	ready := s.status().Timings.Ready
	if existing != nil && ready != nil && s.now.Sub(ready.Time) >= collectorStartTimeout {
		return next(), nil
	}
	s.loadMessage = "starting the collector"
	return waitFor(collectorPollInterval), nil
}

// hasStartedLoads reports whether the start of a load is recorded.
func (s *scope) hasStartedLoads() bool {
	return s.status().Timings.LoadFinish != nil ||
		slices.ContainsFunc(s.status().Loads, func(load v1alpha1.LoadStatus) bool { return load.CreateTime != nil })
}

func hasStarted(pod corev1.Pod) bool {
	return pod.Status.Phase != "" && pod.Status.Phase != corev1.PodPending
}

// ensureCollector creates the Job and its account, unless the run in the API server is newer
// than the cached one: it may be past its loads. It returns the existing Job, or nil if there
// was none.
func (r *Reconciler) ensureCollector(ctx context.Context, s *scope) (metav1.Object, error) {
	request := r.NewRequest(s.run, s.experiment)
	intents := collector.Access(request, r.CollectorRole)
	selectors, err := r.adoptedSelectors(ctx, s)
	if err != nil {
		return nil, err
	}
	config := collector.ConfigFor(s.run, request, selectors)
	config.Egress = r.Egress
	if declared := request.System.Postgres; declared != nil && declared.External == nil {
		cluster, err := r.newScope(s).GetOwned(ctx, contract.PostgresClusterKind, request.PostgresName())
		if err != nil || cluster == nil {
			return nil, err
		}
		config.ControlInstances(cluster.GetUID())
	}
	job, err := collector.Job(s.run, request, config, r.CollectorImage)
	if err != nil {
		return nil, err
	}
	existing, err := r.Cluster.Get(ctx, job.GroupVersionKind(), client.ObjectKeyFromObject(job))
	if err != nil {
		return nil, err
	}
	if existing != nil {
		return existing, r.Cluster.CheckOwner(existing, job)
	}
	fresh := &v1alpha1.PerfRun{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(s.run), fresh); err != nil {
		return nil, fmt.Errorf("reading run %q: %w", s.run.Name, err)
	}
	if fresh.ResourceVersion != s.run.ResourceVersion {
		return nil, nil
	}
	return nil, r.ApplyAll(ctx, append(intents, job))
}

// collectorRefusal returns why the API server refuses the collector's pod.
func (r *Reconciler) collectorRefusal(ctx context.Context, s *scope, job metav1.Object, pods []corev1.Pod) *environment.Readiness {
	if job == nil {
		return nil
	}
	refusal := r.PodRefusal(ctx, pods, s.now, job)
	if refusal == "" {
		return nil
	}
	refused := environment.NotReady(v1alpha1.ReasonRefused, "the cluster refuses the pod of the collector: "+refusal)
	return &refused
}

// adoptedSelectors returns the selectors of adopted workloads, by module.
func (r *Reconciler) adoptedSelectors(ctx context.Context, s *scope) (map[string]string, error) {
	adoptions, err := component.Modules.Adoptions(ctx, r.newScope(s))
	if err != nil {
		return nil, err
	}
	selectors := map[string]string{}
	for _, adoption := range adoptions {
		if adoption.Object == nil {
			continue
		}
		selector, err := workloads.Selector(adoption.Object)
		if err != nil {
			return nil, err
		}
		selectors[adoption.Module.Name] = selector.String()
	}
	return selectors, nil
}

// collectorPods returns all pods of the run's collector Job, sorted by name: each has a part of
// the samples in its log.
func (r *Reconciler) collectorPods(ctx context.Context, run *v1alpha1.PerfRun) ([]corev1.Pod, error) {
	job, err := r.Cluster.Get(ctx, jobKind, client.ObjectKey{Namespace: run.Namespace, Name: naming.CollectorJob(run.Name)})
	if err != nil || job == nil || !metav1.IsControlledBy(job, run) {
		return nil, err
	}
	pods, err := r.Cluster.Pods(ctx, run.Namespace, client.MatchingLabels{
		v1alpha1.LabelExperiment: run.Spec.Experiment, batchv1.JobNameLabel: naming.CollectorJob(run.Name),
	})
	if err != nil {
		return nil, fmt.Errorf("listing the collector's pods: %w", err)
	}
	pods = component.NewLineage(job).Pods(pods)
	slices.SortFunc(pods, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return pods, nil
}

// stepServers ends the collector after the loads and reads its samples.
func (r *Reconciler) stepServers(ctx context.Context, s *scope) (outcome, error) {
	if r.CollectorImage == "" || s.status().RawResults != "" {
		return next(), nil
	}
	pods, err := r.collectorPods(ctx, s.run)
	if err != nil {
		return outcome{}, err
	}
	ending, err := r.endCollector(ctx, pods)
	if err != nil {
		return outcome{}, err
	}
	finish := s.status().Timings.LoadFinish
	catchUp := collector.CatchUpTime(s.run)
	if ending && finish != nil && s.now.Sub(finish.Time) < collectorEndTimeout+catchUp {
		s.loadMessage = "waiting for the collector to finish"
		return waitFor(collectorPollInterval), nil
	}
	var fault *results.Fault
	s.samples, s.sampleNotes, fault, err = r.readCollector(ctx, s, pods)
	if err != nil && finish != nil && s.now.Sub(finish.Time) < collectorLogTimeout+catchUp {
		return outcome{}, err
	}
	s.setFault(fault)
	if s.samples == nil {
		return next(), nil
	}
	return next(), r.storeSamples(ctx, s)
}

// stepEndCollector ends the collector of an invalid run.
func (r *Reconciler) stepEndCollector(ctx context.Context, s *scope) (outcome, error) {
	pods, err := r.collectorPods(ctx, s.run)
	if err != nil {
		return outcome{}, err
	}
	_, err = r.endCollector(ctx, pods)
	return next(), err
}

// endCollector asks running pods to end and reports whether there are any.
func (r *Reconciler) endCollector(ctx context.Context, pods []corev1.Pod) (ending bool, err error) {
	for i := range pods {
		pod := &pods[i]
		if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		ending = ending || hasStarted(*pod)
		if _, requested := pod.Annotations[v1alpha1.AnnotationEnd]; requested {
			continue
		}
		before := pod.DeepCopy()
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, v1alpha1.AnnotationEnd, "")
		if err := r.Cluster.Patch(ctx, pod, before); client.IgnoreNotFound(err) != nil {
			return false, err
		}
	}
	return ending, nil
}

// readCollector merges the samples of all collector pods. A log that cannot be read leaves a
// gap in the samples, and a note with the reason. A log that is too large, or of another run,
// is a fault. The error means that a log cannot be read for now.
func (r *Reconciler) readCollector(ctx context.Context, s *scope, pods []corev1.Pod) (samples *payload.Samples, notes []string, fault *results.Fault, unread error) {
	if len(pods) == 0 {
		return nil, []string{"the servers were not measured: the collector's pod was never created"}, nil, nil
	}
	var parts []*payload.Samples
	reader := payload.NewSamplesReader()
	for _, pod := range pods {
		own, err := r.readSamples(ctx, s, pod, reader)
		if errors.Is(err, payload.ErrTooLarge) || errors.Is(err, results.ErrOtherSource) {
			return nil, nil, results.Unreadable(fmt.Sprintf("the collector's pod %q", pod.Name), err), nil
		}
		if err != nil {
			if kube.IsLogUnavailable(err) {
				unread = err
			}
			notes = append(notes, fmt.Sprintf("cannot read the samples of collector pod %s: %s", pod.Name, prose.Sentence(err.Error())))
			continue
		}
		parts = append(parts, own)
	}
	if len(parts) == 0 {
		return nil, notes, nil, unread
	}
	samples, err := payload.MergeSamples(parts...)
	if err != nil {
		return nil, append(notes, fmt.Sprintf("cannot merge the samples of the collector's pods: %v", err)), nil, unread
	}
	return samples, notes, nil, unread
}

func (r *Reconciler) readSamples(ctx context.Context, s *scope, pod corev1.Pod, reader *payload.SamplesReader) (*payload.Samples, error) {
	ctx, cancel := context.WithDeadline(ctx, s.logDeadline)
	defer cancel()
	log, err := r.Logs.Log(ctx, pod.Namespace, pod.Name, collector.Container)
	if err != nil {
		return nil, err
	}
	own, sum, err := reader.ReadSum(log)
	if err == nil {
		err = results.CheckSamples(own, s.run.Name, pod.Name)
	}
	if err == nil {
		s.recordLog(collectorLog(&pod, sum))
	}
	return own, errors.Join(err, log.Close())
}

// storeSamples stores the samples for other analyses, thinned if there are too many.
func (r *Reconciler) storeSamples(ctx context.Context, s *scope) error {
	fitted, err := payload.FitSamples(s.samples, maxRawBytes)
	if err != nil {
		s.sampleNotes = append(s.sampleNotes, fmt.Sprintf("the samples are not stored: %v", err))
		return nil
	}
	encoded, err := payload.MarshalSamples(fitted)
	if err != nil {
		return err
	}
	raw := newRecord(s.run, naming.RawSamples(s.run.Name), nil)
	raw.BinaryData = map[string][]byte{"samples": encoded}
	if err := r.Cluster.ApplyTyped(ctx, raw); err != nil {
		return err
	}
	return s.recordDigest(raw)
}

// observeServers summarizes the samples in the status and returns their observations: of the
// valid time, and of each window in it.
func (s *scope) observeServers(measured map[string]results.Measured) []v1alpha1.Observation {
	s.summarizeServers(measured)
	if s.samples == nil {
		return nil
	}
	spec := s.run.Spec
	return results.ObserveServersThroughout(s.samples, spec.Scenario.Loads, measured, spec.Measurement)
}

// summarizeServers summarizes the samples, if there are any, in the status.
func (s *scope) summarizeServers(measured map[string]results.Measured) {
	if s.samples == nil && len(s.sampleNotes) == 0 {
		return
	}
	spec := s.run.Spec
	s.status().Servers = s.serversStatus(results.CountedWindow(spec.Scenario.Loads, measured, spec.Measurement))
}

// serversStatus is the status of the servers beside the observations.
func (s *scope) serversStatus(window results.Window) *v1alpha1.ServersStatus {
	gap := results.LongestGap(s.samples, window, s.run.Spec.Measurement.IntervalOrDefault())
	fault, warning := results.CheckGap(gap, results.SilentPeriods(s.samples, window), window, s.run.Spec.Validity)
	s.setFault(fault)
	if warning != "" {
		s.warn(warning)
	}
	seen := &v1alpha1.ServersStatus{
		LongestGap: &metav1.Duration{Duration: gap.Length.Truncate(time.Millisecond)},
		Interval:   &metav1.Duration{Duration: gap.Interval},
		Silent:     gap.Source,
		Notes:      s.sampleNotes,
	}
	if gap.Message != "" {
		seen.Notes = append(seen.Notes, gap.Source+": "+gap.Message)
	}
	if s.samples == nil {
		return seen
	}
	s.checkNode(seen, window)
	seen.Notes = append(seen.Notes, results.Sparse(s.samples, window)...)
	var uneven []string
	seen.Pods, uneven = results.Pods(s.samples, window)
	for _, sentence := range uneven {
		s.warn(sentence)
	}
	seen.RawSamples = naming.RawSamples(s.run.Name)
	seen.Rounds = int32(len(s.samples.Rounds))
	seen.Statements = results.TopStatements(s.samples, window, maxStatements)
	seen.Notes = append(seen.Notes, s.samples.Notes...)
	seen.Notes = seen.Notes[:min(len(seen.Notes), maxNotes)]
	return seen
}

// checkNode reports the node that the collector shared with the run's pods.
func (s *scope) checkNode(seen *v1alpha1.ServersStatus, window results.Window) {
	use, known := results.FindNode(s.samples, window)
	if !known {
		return
	}
	seen.Node = use.Name
	fault, warning := results.CheckNode(use, s.run.Spec.Validity)
	s.setFault(fault)
	for _, sentence := range []string{warning, results.CheckWaiting(use)} {
		if sentence != "" {
			s.warn(sentence)
		}
	}
}

// deleteCollector deletes the Job of a valid run, whose samples are stored.
func (r *Reconciler) deleteCollector(ctx context.Context, run *v1alpha1.PerfRun) error {
	key := client.ObjectKey{Namespace: run.Namespace, Name: naming.CollectorJob(run.Name)}
	job, err := r.Cluster.Get(ctx, jobKind, key)
	if err != nil || job == nil {
		return err
	}
	return r.Cluster.Delete(ctx, run, job)
}
