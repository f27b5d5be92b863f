// SPDX-License-Identifier: Apache-2.0

package component

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/kube"
	kubecache "perflab.dev/perflab/internal/kube/cache"
	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/load/faults"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/network/egress"
	"perflab.dev/perflab/internal/publish/sinks"
)

// TargetProber checks whether a target responds.
type TargetProber interface {
	Reach(ctx context.Context, url string) error
}

// DatabaseProber reads from PostgreSQL's servers.
type DatabaseProber interface {
	// Metrics reads the metrics of a CloudNativePG instance.
	Metrics(ctx context.Context, url string) (contract.PostgresMetrics, error)
	// Listens returns nil if a server accepts connections at host:port.
	Listens(ctx context.Context, address string) error
}

// LogReader opens the log of a container, from its start or its recent part.
type LogReader interface {
	Log(ctx context.Context, namespace, pod, container string) (io.ReadCloser, error)
	Recent(ctx context.Context, namespace, pod, container string, since time.Duration) (io.ReadCloser, error)
}

// Tools are the clients and settings of the controllers and components.
type Tools struct {
	Cluster kube.Cluster
	// Accounts of experiments, which the cluster's client impersonates. Nil: it writes as the
	// operator.
	Accounts *kube.Accounts
	// ReadLimiter bounds the whole objects of others that are in memory.
	ReadLimiter *kube.ReadLimiter
	// OperatorNamespace runs this operator and distinguishes it from others. Empty: the
	// operator runs outside the cluster and works on unclaimed experiments.
	OperatorNamespace string
	// Live reads from the API server instead of the cache.
	Live client.Reader
	// LeaseNamespace has the queue tickets of experiments of all namespaces. Empty: there is no
	// queue across namespaces.
	LeaseNamespace string
	// LongestTurn bounds a run, whatever its deadlines, and how long an experiment may keep its
	// turn. 0: no limit.
	LongestTurn time.Duration
	Settings    load.Settings
	// CollectorImage samples the servers of each run. Empty: nothing is sampled.
	CollectorImage string
	// CollectorRole is the ClusterRole of collectors.
	CollectorRole string
	// Egress are the hosts that collectors may connect to.
	Egress egress.Lists
	Target TargetProber
	Kafka  KafkaAdmin
	// Databases reads from PostgreSQL's servers.
	Databases DatabaseProber
	Logs      LogReader
	Events    events.EventRecorder
	// Archives store records for longer than the cluster.
	Archives archive.Archives
	// Sinks outside the cluster receive announcements.
	Sinks []sinks.Sink
	// ClusterInfo describes the operator and the cluster.
	ClusterInfo ClusterInfo
}

// WithAccount returns a context whose writes are made as the ServiceAccount of the experiment.
func (t *Tools) WithAccount(ctx context.Context, experiment *v1alpha1.PerfExperiment) context.Context {
	if experiment.DeletionTimestamp != nil {
		return t.WithTeardownAccount(ctx, experiment.Namespace, experiment.Spec.ServiceAccountName)
	}
	return kube.WithAccount(ctx, experiment.Namespace, experiment.Spec.ServiceAccountName)
}

// WithTeardownAccount returns a context whose writes delete, as the ServiceAccount, what was
// built as it. If the operator no longer impersonates accounts, they are made as the operator.
func (t *Tools) WithTeardownAccount(ctx context.Context, namespace, account string) context.Context {
	if t.Accounts == nil {
		account = ""
	}
	return kube.WithAccount(ctx, namespace, account)
}

// Scope is what components read during one reconcile of a run.
type Scope struct {
	Tools
	Run *v1alpha1.PerfRun
	// Experiment of the run.
	Experiment *v1alpha1.PerfExperiment
	Now        time.Time
	// nodes that this reconcile has read, by name.
	nodes map[string]*corev1.Node
	// podList has all pods of the namespace, once this reconcile has read them.
	podList *corev1.PodList
	// replicaSets of the namespace and their owners, once this reconcile has read them.
	replicaSets []metav1.PartialObjectMetadata
	// podSets of the run's Kafka, once this reconcile has read them.
	podSets *unstructured.UnstructuredList
}

// Request is the declaration of the run.
func (p *Scope) Request() environment.Request { return p.NewRequest(p.Run, p.Experiment) }

// NewRequest returns the declaration of an experiment's run.
func (t *Tools) NewRequest(run *v1alpha1.PerfRun, experiment *v1alpha1.PerfExperiment) environment.Request {
	return environment.Request{
		Namespace:  run.Namespace,
		Experiment: run.Spec.Experiment,
		Run:        run.Name,
		Reset:      run.Spec.Reset,
		KeepWarm:   run.Spec.KeepWarm,
		System:     run.Spec.System,
		Owner:      naming.Owner("PerfExperiment", experiment),
		Names:      naming.RunScheme(run),
		Pulls:      t.Settings.Pulls,

		StrikesPostgres: slices.ContainsFunc(experiment.Spec.Scenarios, func(scenario v1alpha1.Scenario) bool { return faults.StrikesPostgres(&scenario) }),
	}
}

// within reports whether less than a limit has passed since a time.
func (p *Scope) within(limit time.Duration, since *metav1.Time) bool {
	return since != nil && p.Now.Sub(since.Time) < limit
}

// ApplyAll applies objects.
func (t *Tools) ApplyAll(ctx context.Context, intents []environment.Intent) error {
	for _, intent := range intents {
		if err := t.Cluster.Apply(ctx, intent); err != nil {
			return err
		}
	}
	return nil
}

// observe reads the objects of intents and, if labels are given, their pods. A ConfigMap is
// ready once it is applied, and no cache holds it.
func (p *Scope) observe(ctx context.Context, intents []environment.Intent, podLabels map[string]string) (environment.Observed, error) {
	observed := environment.Observed{Objects: map[environment.Key]*unstructured.Unstructured{}, Now: p.Now}
	for _, intent := range intents {
		if intent.GetKind() == "ConfigMap" {
			continue
		}
		object, err := p.Cluster.Get(ctx, intent.GroupVersionKind(), client.ObjectKeyFromObject(intent))
		if err != nil {
			return observed, err
		}
		if object != nil {
			observed.Objects[environment.Key{Kind: intent.GetKind(), Name: intent.GetName()}] = object
		}
	}
	if len(podLabels) == 0 {
		return observed, nil
	}
	pods, err := p.pods(ctx, podLabels)
	observed.Pods = pods
	observed.Events = p.PodEvents(ctx, slices.DeleteFunc(slices.Clone(pods), environment.PodEnded), p.Now)
	return observed, err
}

// pods lists the pods of the run's namespace with these labels.
func (p *Scope) pods(ctx context.Context, labels map[string]string) ([]corev1.Pod, error) {
	return p.Cluster.Pods(ctx, p.Run.Namespace, client.MatchingLabels(labels))
}

// runningPods filters the running pods that are not being deleted, sorted by name.
func runningPods(pods []corev1.Pod) []corev1.Pod {
	slices.SortFunc(pods, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return slices.DeleteFunc(pods, func(pod corev1.Pod) bool {
		return pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning
	})
}

// largePageSize is how many objects of others a list request returns: each may be a megabyte.
const largePageSize = 50

// allPods lists all pods of the run's namespace, once per reconcile, from the API server: the
// pods of adopted workloads have no label in common, and no cache holds them.
func (p *Scope) allPods(ctx context.Context) ([]corev1.Pod, error) {
	if p.podList != nil {
		return p.podList.Items, nil
	}
	every := &corev1.PodList{}
	err := kube.Pages(ctx, p.Live, &corev1.PodList{}, largePageSize, func(page *corev1.PodList) error {
		for i := range page.Items {
			every.Items = append(every.Items, *kubecache.StripPod(&page.Items[i]))
		}
		return nil
	}, client.InNamespace(p.Run.Namespace))
	if err != nil {
		return nil, fmt.Errorf("listing the namespace's pods: %w", err)
	}
	p.podList = every
	return every.Items, nil
}

// +kubebuilder:rbac:groups="",resources=nodes,verbs=get

// Node reads a node, once per reconcile. It returns nil if the node is gone or the operator may
// not read it.
func (p *Scope) Node(ctx context.Context, name string) (*corev1.Node, error) {
	if node, known := p.nodes[name]; known {
		return node, nil
	}
	node := &corev1.Node{}
	err := p.Live.Get(ctx, client.ObjectKey{Name: name}, node)
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		node, err = nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading node %q: %w", name, err)
	}
	if p.nodes == nil {
		p.nodes = map[string]*corev1.Node{}
	}
	p.nodes[name] = node
	return node, nil
}

// isOutdated reports whether an object was built from another declaration, or is being deleted.
func isOutdated(current *unstructured.Unstructured, wanted string) bool {
	return current.GetDeletionTimestamp() != nil || environment.ReadFingerprint(current) != wanted
}

// stuckReasons are reasons for unreadiness that may last forever and that a rebuild may fix. A
// rebuild does not help pods that cannot be scheduled, pulled or admitted.
var stuckReasons = []string{
	v1alpha1.ReasonCreating, v1alpha1.ReasonCrashing, v1alpha1.ReasonNotReady, v1alpha1.ReasonRolling, v1alpha1.ReasonOperatorSilent,
}

// isStuck reports whether an object of an earlier run has not become ready for this one within
// a third of the environment's deadline: its operator may never recover.
func (p *Scope) isStuck(object *unstructured.Unstructured, condition string) bool {
	timings := p.Run.Status.Timings
	found := meta.FindStatusCondition(p.Run.Status.Conditions, condition)
	if timings.Provisioned != nil || found == nil || found.Status != metav1.ConditionFalse || !slices.Contains(stuckReasons, found.Reason) {
		return false
	}
	created := object.GetCreationTimestamp()
	return created.Before(&p.Run.CreationTimestamp) && !p.within(p.Run.Spec.Deadlines.EnvironmentOrDefault()/3, timings.ProvisionStart)
}

// canStay reports whether an object may stay during the run of the intents: it is one of them,
// or belongs to another declaration that is kept warm.
func canStay(request environment.Request, intents []environment.Intent, object *unstructured.Unstructured) bool {
	at := slices.IndexFunc(intents, func(intent environment.Intent) bool {
		return intent.GetKind() == object.GetKind() && intent.GetName() == object.GetName()
	})
	if at < 0 {
		return request.StaysWarm()
	}
	return !isOutdated(object, environment.ReadFingerprint(intents[at]))
}
