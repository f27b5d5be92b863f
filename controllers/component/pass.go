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
	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/network/egress"
	"perflab.dev/perflab/internal/publish/sinks"
)

// TargetProber asks whether a target answers.
type TargetProber interface {
	Reach(ctx context.Context, url string) error
}

// DatabaseProber asks PostgreSQL's servers.
type DatabaseProber interface {
	// Metrics asks the metrics port of an instance of CloudNativePG.
	Metrics(ctx context.Context, url string) (contract.PostgresMetrics, error)
	// Listens returns nil when somebody takes connections at host:port.
	Listens(ctx context.Context, address string) error
}

// LogReader opens the log of a pod's container, from its beginning or what was
// written of late.
type LogReader interface {
	Log(ctx context.Context, namespace, pod, container string) (io.ReadCloser, error)
	Recent(ctx context.Context, namespace, pod, container string, since time.Duration) (io.ReadCloser, error)
}

// Tools are what components work with.
type Tools struct {
	Cluster kube.Cluster
	// Accounts are those that the cluster's client writes as. Nil: as the operator.
	Accounts *kube.Accounts
	// Room is for objects of others' that are held as a whole.
	Room *Room
	// Home is the namespace that runs this operator, which tells it from others.
	// Empty: it runs outside of the cluster, and works on what is nobody's.
	Home string
	// Live reads from the API server, past the cache.
	Live client.Reader
	// Lanes is the namespace with the tickets of experiments that take turns with
	// those of other namespaces. Empty: they take none.
	Lanes string
	// LongestTurn is how long a run may take, whatever its deadlines say, and an experiment
	// keep others waiting. 0: no limit.
	LongestTurn time.Duration
	Settings    load.Settings
	// CollectorImage samples the servers of each run. Empty: nobody does.
	CollectorImage string
	// CollectorRole is the ClusterRole with what a collector may.
	CollectorRole string
	// Egress are the lists of what is connected to, for collectors.
	Egress egress.Lists
	Target TargetProber
	Kafka  KafkaAdmin
	// Databases answers for PostgreSQL's servers.
	Databases DatabaseProber
	Logs      LogReader
	Events    events.EventRecorder
	// Archives keep what was recorded for longer than the cluster does.
	Archives archive.Archives
	// Sinks outside the cluster are told what there is to announce.
	Sinks []sinks.Sink
	// Surroundings tell what there is beside the system.
	Surroundings Surroundings
}

// For has a pass over an experiment write as the ServiceAccount that the experiment names.
func (t *Tools) For(ctx context.Context, experiment *v1alpha1.PerfExperiment) context.Context {
	if experiment.DeletionTimestamp != nil {
		return t.ToEnd(ctx, experiment.Namespace, experiment.Spec.ServiceAccountName)
	}
	return kube.WithAccount(ctx, experiment.Namespace, experiment.Spec.ServiceAccountName)
}

// ToEnd has a pass take away, as the ServiceAccount, what was built as it; as the operator,
// where that acts as none any more.
func (t *Tools) ToEnd(ctx context.Context, namespace, account string) context.Context {
	if t.Accounts == nil {
		account = ""
	}
	return kube.WithAccount(ctx, namespace, account)
}

// Pass is what components see of a pass over a run. They read it.
type Pass struct {
	Tools
	Run *v1alpha1.PerfRun
	// Experiment the run belongs to.
	Experiment *v1alpha1.PerfExperiment
	Now        time.Time
	// nodes that were read in this pass, by name.
	nodes map[string]*corev1.Node
	// every pod of the namespace, once they were read in this pass.
	every *corev1.PodList
	// replicaSets of the namespace and their owners, once they were read in this pass.
	replicaSets []metav1.PartialObjectMetadata
	// podSets of the run's Kafka, once they were read in this pass.
	podSets *unstructured.UnstructuredList
}

// Request is what is to be built for the run.
func (p *Pass) Request() environment.Request { return RequestOf(p.Run, p.Experiment) }

// RequestOf is what is to be built for a run of an experiment.
func RequestOf(run *v1alpha1.PerfRun, experiment *v1alpha1.PerfExperiment) environment.Request {
	return environment.Request{
		Namespace:  run.Namespace,
		Experiment: run.Spec.Experiment,
		Run:        run.Name,
		Reset:      run.Spec.Reset,
		KeepWarm:   run.Spec.KeepWarm,
		System:     run.Spec.System,
		Owner:      naming.Owner("PerfExperiment", experiment),
		Names:      naming.RunScheme(run),
	}
}

// within reports whether less than a time has gone by since something happened.
func (p *Pass) within(limit time.Duration, since *metav1.Time) bool {
	return since != nil && p.Now.Sub(since.Time) < limit
}

// ApplyAll applies what a part wants built.
func (t *Tools) ApplyAll(ctx context.Context, intents []environment.Intent) error {
	for _, intent := range intents {
		if err := t.Cluster.Apply(ctx, intent); err != nil {
			return err
		}
	}
	return nil
}

// observe reads the objects of these intents and, where labels are given, the
// pods behind them. A ConfigMap is ready once it is applied, and is in no cache.
func (p *Pass) observe(ctx context.Context, intents []environment.Intent, podLabels map[string]string) (environment.Observed, error) {
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
	observed.Events = p.EventsOf(ctx, slices.DeleteFunc(slices.Clone(pods), environment.PodEnded), p.Now)
	return observed, err
}

// pods are those of the run's namespace with these labels.
func (p *Pass) pods(ctx context.Context, labels map[string]string) ([]corev1.Pod, error) {
	return p.Cluster.Pods(ctx, p.Run.Namespace, client.MatchingLabels(labels))
}

// running are pods that run and stay, sorted by name.
func running(pods []corev1.Pod) []corev1.Pod {
	slices.SortFunc(pods, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return slices.DeleteFunc(pods, func(pod corev1.Pod) bool {
		return pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning
	})
}

// othersPage is how many objects of others are asked for at once, each of which may be a
// megabyte.
const othersPage = 50

// everyPod is all pods of the run's namespace, read once in a pass from the API
// server: those of borrowed workloads have no label in common, and no cache has what
// is not ours.
func (p *Pass) everyPod(ctx context.Context) ([]corev1.Pod, error) {
	if p.every != nil {
		return p.every.Items, nil
	}
	every := &corev1.PodList{}
	err := kube.Pages(ctx, p.Live, &corev1.PodList{}, othersPage, func(page *corev1.PodList) error {
		for i := range page.Items {
			every.Items = append(every.Items, *leanPod(&page.Items[i]))
		}
		return nil
	}, client.InNamespace(p.Run.Namespace))
	if err != nil {
		return nil, fmt.Errorf("listing the namespace's pods: %w", err)
	}
	p.every = every
	return every.Items, nil
}

// +kubebuilder:rbac:groups="",resources=nodes,verbs=get

// Node reads a node, once in a pass; nil: it is gone, or the operator may not look
// at it.
func (p *Pass) Node(ctx context.Context, name string) (*corev1.Node, error) {
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

// outdated reports whether an object was made from another declaration than
// the wanted one, or is going away.
func outdated(current *unstructured.Unstructured, wanted string) bool {
	return current.GetDeletionTimestamp() != nil || environment.ReadFingerprint(current) != wanted
}

// standstills are reasons for not being ready that may never pass, and of which one
// that is built anew would be rid. What nobody places, pulls or lets through is no
// better the second time.
var standstills = []string{
	v1alpha1.ReasonCreating, v1alpha1.ReasonCrashing, v1alpha1.ReasonNotReady, v1alpha1.ReasonRolling, v1alpha1.ReasonOperatorSilent,
}

// atStandstill reports whether an object that was made for an earlier run does not
// come up for this one: who operates it may have lost its way, which nobody mends.
// It has a third of the time that the environment has.
func (p *Pass) atStandstill(object *unstructured.Unstructured, condition string) bool {
	timings := p.Run.Status.Timings
	found := meta.FindStatusCondition(p.Run.Status.Conditions, condition)
	if timings.Provisioned != nil || found == nil || found.Status != metav1.ConditionFalse || !slices.Contains(standstills, found.Reason) {
		return false
	}
	created := object.GetCreationTimestamp()
	return created.Before(&p.Run.CreationTimestamp) && !p.within(p.Run.Spec.Deadlines.EnvironmentOrDefault()/3, timings.ProvisionStart)
}

// staysUp reports whether an object of the environment may stay while the
// intents' run is on: it is one of them, or another declaration's that is kept
// warm.
func staysUp(request environment.Request, intents []environment.Intent, object *unstructured.Unstructured) bool {
	at := slices.IndexFunc(intents, func(intent environment.Intent) bool {
		return intent.GetKind() == object.GetKind() && intent.GetName() == object.GetName()
	})
	if at < 0 {
		return request.StaysWarm()
	}
	return !outdated(object, environment.ReadFingerprint(intents[at]))
}
