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
	// collectorStart is how long loads wait for the collector to be up. After
	// that they start without it: the gap tells.
	collectorStart = time.Minute
	// collectorEnd is how long a collector may take to end once the loads are
	// over, beside waiting for figures that come late. After that, what it has
	// printed is all there is.
	collectorEnd = 30 * time.Second
	// collectorPatience is how long after the loads its log may not be readable. After
	// that the servers count as not measured.
	collectorPatience = 2 * time.Minute
	// collectorPause is the time between two looks at a collector that ends.
	collectorPause = time.Second
	// mostStatements of PostgreSQL are in a run's status.
	maxStatements = 10
	// mostNotes about what could not be measured are there as well.
	maxNotes = 32
)

// +kubebuilder:rbac:groups="",resources=serviceaccounts,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=rolebindings,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=clusterroles,verbs=bind,resourceNames=perflab-collector
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=delete

// stepCollector starts the collector before the first load and waits until it
// asks.
func (r *Reconciler) stepCollector(ctx context.Context, s *scope) (outcome, error) {
	if r.CollectorImage == "" || s.loadsBegan() {
		return next(), nil
	}
	there, err := r.ensureCollector(ctx, s)
	if err != nil {
		return outcome{}, err
	}
	pods, err := r.collectorPods(ctx, s.run)
	if err != nil {
		return outcome{}, err
	}
	if slices.ContainsFunc(pods, hasBegun) {
		return next(), nil
	}
	if refusal := r.refusedCollector(ctx, s, there, pods); refusal != nil {
		s.tell(v1alpha1.ConditionLoadsComplete, *refusal)
		return s.notReady("the collector", *refusal).within(component.RefusedPause), nil
	}
	ready := s.status().Timings.Ready
	if there != nil && ready != nil && s.now.Sub(ready.Time) >= collectorStart {
		return next(), nil
	}
	s.loading = "the collector of the servers' samples is about to start"
	return waitFor(collectorPause), nil
}

// loadsBegan says whether a load's start has been written down.
func (s *scope) loadsBegan() bool {
	return s.status().Timings.LoadFinish != nil ||
		slices.ContainsFunc(s.status().Loads, func(load v1alpha1.LoadStatus) bool { return load.CreateTime != nil })
}

func hasBegun(pod corev1.Pod) bool {
	return pod.Status.Phase != "" && pod.Status.Phase != corev1.PodPending
}

// ensureCollector makes the Job and what it works as, unless a fresh look shows
// that the cache is behind and the run is already past its loads. It returns the
// Job that is there; nil: it has only just been made, or not yet.
func (r *Reconciler) ensureCollector(ctx context.Context, s *scope) (metav1.Object, error) {
	request := s.request()
	intents := collector.Access(request, r.CollectorRole)
	selectors, err := r.borrowedSelectors(ctx, s)
	if err != nil {
		return nil, err
	}
	config := collector.ConfigFor(s.run, request, selectors)
	config.Egress = r.Egress
	if declared := request.System.Postgres; declared != nil && declared.External == nil {
		cluster, err := r.seenBy(s).Own(ctx, contract.PostgresClusterKind, request.PostgresName())
		if err != nil || cluster == nil {
			return nil, err
		}
		config.ControlInstances(cluster.GetUID())
	}
	job, err := collector.Job(s.run, request, config, r.CollectorImage)
	if err != nil {
		return nil, err
	}
	there, err := r.Cluster.Get(ctx, job.GroupVersionKind(), client.ObjectKeyFromObject(job))
	if err != nil {
		return nil, err
	}
	if there != nil {
		return there, r.Cluster.CheckOwner(there, job)
	}
	fresh := &v1alpha1.PerfRun{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(s.run), fresh); err != nil {
		return nil, fmt.Errorf("reading run %q afresh: %w", s.run.Name, err)
	}
	if fresh.ResourceVersion != s.run.ResourceVersion {
		return nil, nil
	}
	return nil, r.ApplyAll(ctx, append(intents, job))
}

// refusedCollector says that, and why, the cluster takes no pod of the collector.
func (r *Reconciler) refusedCollector(ctx context.Context, s *scope, job metav1.Object, pods []corev1.Pod) *environment.Readiness {
	if job == nil {
		return nil
	}
	refusal := r.RefusedPods(ctx, pods, s.now, job)
	if refusal == "" {
		return nil
	}
	refused := environment.NotReady(v1alpha1.ReasonRefused, "the cluster refuses the pod of the collector: "+refusal)
	return &refused
}

// borrowedSelectors are those of the workloads that were there before, by
// module.
func (r *Reconciler) borrowedSelectors(ctx context.Context, s *scope) (map[string]string, error) {
	loans, err := component.Modules.Loans(ctx, r.seenBy(s))
	if err != nil {
		return nil, err
	}
	selectors := map[string]string{}
	for _, loan := range loans {
		if loan.Object == nil {
			continue
		}
		selector, err := workloads.Selector(loan.Object)
		if err != nil {
			return nil, err
		}
		selectors[loan.Module.Name] = selector.String()
	}
	return selectors, nil
}

// collectorPods are all that the Job of the run's collector controls, sorted by name: each
// holds a part of what was seen in its log.
func (r *Reconciler) collectorPods(ctx context.Context, run *v1alpha1.PerfRun) ([]corev1.Pod, error) {
	job, err := r.Cluster.Get(ctx, jobKind, client.ObjectKey{Namespace: run.Namespace, Name: naming.CollectorJob(run.Name)})
	if err != nil || job == nil || !metav1.IsControlledBy(job, run) {
		return nil, err
	}
	pods, err := r.Cluster.Pods(ctx, run.Namespace, client.MatchingLabels{
		v1alpha1.LabelExperiment: run.Spec.Experiment, batchv1.JobNameLabel: naming.CollectorJob(run.Name),
	})
	if err != nil {
		return nil, fmt.Errorf("looking for the collector: %w", err)
	}
	pods = component.LineageOf(job).Pods(pods)
	slices.SortFunc(pods, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return pods, nil
}

// stepServers ends the collector once the loads are over and reads what it saw.
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
	late := collector.CatchUpOf(s.run)
	if ending && finish != nil && s.now.Sub(finish.Time) < collectorEnd+late {
		s.loading = "the loads are over; the collector is about to end"
		return waitFor(collectorPause), nil
	}
	var fault *results.Fault
	s.samples, s.unsampled, fault, err = r.readCollector(ctx, s, pods)
	if err != nil && finish != nil && s.now.Sub(finish.Time) < collectorPatience+late {
		return outcome{}, err
	}
	s.blame(fault)
	if s.samples == nil {
		return next(), nil
	}
	return next(), r.keepSamples(ctx, s)
}

// stepDismissCollector lets the collector of a run that does not count end.
func (r *Reconciler) stepDismissCollector(ctx context.Context, s *scope) (outcome, error) {
	pods, err := r.collectorPods(ctx, s.run)
	if err != nil {
		return outcome{}, err
	}
	_, err = r.endCollector(ctx, pods)
	return next(), err
}

// endCollector tells pods that are on to end and says whether there are any.
func (r *Reconciler) endCollector(ctx context.Context, pods []corev1.Pod) (ending bool, err error) {
	for i := range pods {
		pod := &pods[i]
		if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		ending = ending || hasBegun(*pod)
		if _, asked := pod.Annotations[v1alpha1.AnnotationEnd]; asked {
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

// readCollector puts together what all pods of the collector printed. A log
// that can't be read is a gap, which the samples tell; why, the notes do. One that
// holds too much, or what somebody else saw, is a fault. The error is of one that
// can't be read for now.
func (r *Reconciler) readCollector(ctx context.Context, s *scope, pods []corev1.Pod) (samples *payload.Samples, notes []string, fault *results.Fault, unread error) {
	if len(pods) == 0 {
		return nil, []string{"the servers were not measured: the collector never had a pod"}, nil, nil
	}
	var parts []*payload.Samples
	reader := payload.NewSamplesReader()
	for _, pod := range pods {
		own, err := r.readSamples(ctx, s, pod, reader)
		if errors.Is(err, payload.ErrTooLarge) || errors.Is(err, results.ErrForeign) {
			return nil, nil, results.Unreadable(fmt.Sprintf("the collector's pod %q", pod.Name), err), nil
		}
		if err != nil {
			if kube.IsLogUnavailable(err) {
				unread = err
			}
			notes = append(notes, fmt.Sprintf("what the collector's pod %s saw can't be read: %s", pod.Name, prose.Sentence(err.Error())))
			continue
		}
		parts = append(parts, own)
	}
	if len(parts) == 0 {
		return nil, notes, nil, unread
	}
	samples, err := payload.MergeSamples(parts...)
	if err != nil {
		return nil, append(notes, fmt.Sprintf("what the collector's pods saw does not fit together: %v", err)), nil, unread
	}
	return samples, notes, nil, unread
}

func (r *Reconciler) readSamples(ctx context.Context, s *scope, pod corev1.Pod, reader *payload.SamplesReader) (*payload.Samples, error) {
	ctx, cancel := context.WithDeadline(ctx, s.readUntil)
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
		s.note(ofCollector(&pod, sum))
	}
	return own, errors.Join(err, log.Close())
}

// keepSamples stores the samples, so that they can be looked at again in other
// ways. What is too much to store is thinned.
func (r *Reconciler) keepSamples(ctx context.Context, s *scope) error {
	fitted, err := payload.FitSamples(s.samples, maxRawBytes)
	if err != nil {
		s.unsampled = append(s.unsampled, fmt.Sprintf("the samples are not stored: %v", err))
		return nil
	}
	encoded, err := payload.MarshalSamples(fitted)
	if err != nil {
		return err
	}
	raw := recordOf(s.run, naming.RawSamples(s.run.Name), nil)
	raw.BinaryData = map[string][]byte{"samples": encoded}
	if err := r.Cluster.ApplyTyped(ctx, raw); err != nil {
		return err
	}
	return s.noteKept(raw)
}

// observeServers sums up what the collector saw and gives its observations: for
// the stretch that counts, and for each window within it.
func (s *scope) observeServers(measured map[string]results.Measured) []v1alpha1.Observation {
	if s.samples == nil && len(s.unsampled) == 0 {
		return nil
	}
	spec := s.run.Spec
	whole := results.CountedWindow(spec.Scenario.Loads, measured, spec.Measurement)
	s.status().Servers = s.seen(whole)
	if s.samples == nil {
		return nil
	}
	return results.ObserveServersThroughout(s.samples, spec.Scenario.Loads, measured, spec.Measurement)
}

// seen is what the status says of the servers beside the observations.
func (s *scope) seen(window results.Window) *v1alpha1.ServersStatus {
	gap := results.LongestGap(s.samples, window, s.run.Spec.Measurement.IntervalOrDefault())
	fault, warning := results.CheckGap(gap, results.Silences(s.samples, window), window, s.run.Spec.Validity)
	s.blame(fault)
	if warning != "" {
		s.warn(warning)
	}
	seen := &v1alpha1.ServersStatus{
		LongestGap: &metav1.Duration{Duration: gap.Length.Truncate(time.Millisecond)},
		Interval:   &metav1.Duration{Duration: gap.Interval},
		Silent:     gap.Source,
		Notes:      s.unsampled,
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

// checkNode tells of the node that the collector shared with the run's pods.
func (s *scope) checkNode(seen *v1alpha1.ServersStatus, window results.Window) {
	use, known := results.NodeOf(s.samples, window)
	if !known {
		return
	}
	seen.Node = use.Name
	fault, warning := results.CheckNode(use, s.run.Spec.Validity)
	s.blame(fault)
	for _, sentence := range []string{warning, results.CheckCalm(use)} {
		if sentence != "" {
			s.warn(sentence)
		}
	}
}

// tidyCollector takes away the Job of a run that counts: what it saw is kept.
func (r *Reconciler) tidyCollector(ctx context.Context, run *v1alpha1.PerfRun) error {
	key := client.ObjectKey{Namespace: run.Namespace, Name: naming.CollectorJob(run.Name)}
	job, err := r.Cluster.Get(ctx, jobKind, key)
	if err != nil || job == nil {
		return err
	}
	return r.Cluster.Delete(ctx, run, job)
}
