//go:build e2e

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
)

// fault is one kind of failure.
type fault struct {
	name string
	// loading is true if the fault is injected while a load is running.
	loading bool
	// local is true if a script of the local cluster injects the fault.
	local bool
	// invalidates is true if the fault invalidates the results of the load that it hits.
	invalidates bool
	// when returns whether the fault can hit anything. If it is nil, it always can.
	when func(context.Context, *subject) bool
	// lasts returns the duration of the fault. If it is nil, the fault ends at once.
	lasts func(*chaos) time.Duration
	// inject injects the fault. It returns the object that it hit and a function that heals
	// it.
	inject func(context.Context, *subject) (string, func(context.Context) error, error)
	// reported matches a condition's message. It is nil if the fault does no harm.
	reported *regexp.Regexp
}

// overdue returns whether a condition should have reported the fault by now. Faults that
// hit the components that report are not reported: for these, the time counts from the end
// of the fault.
func (f fault) overdue(struck, healed time.Time) bool {
	if f.reported == nil {
		return time.Since(healed) > recovery
	}
	return time.Since(struck) > patience
}

var (
	operatorPods  = client.MatchingLabels{"app.kubernetes.io/name": "perflab-operator"}
	runnerPods    = client.MatchingLabels{"app": "k6", "runner": "true"}
	collectorPods = client.MatchingLabels{v1alpha1.LabelComponent: "collector"}
	brokerPods    = client.MatchingLabels{"app.kubernetes.io/name": "kafka"}
	primaryPods   = client.MatchingLabels{"cnpg.io/instanceRole": "primary"}
	modulePods    = client.MatchingLabels{v1alpha1.LabelComponent: "module"}
)

const (
	volumesFault = "volumes full"
	clockFault   = "clock moved"
)

func faults() []fault {
	return []fault{
		{name: "operator killed", local: true, inject: crashOperator},
		{name: "operator killed after a write", local: true, inject: crashOperatorAfterWrite},
		{name: "operator deleted", inject: deleteOperator},
		{name: "leader's lease taken", inject: takeLease},
		{name: "API server killed", local: true, lasts: outage, inject: killDaemon("kube-apiserver")},
		{name: "API server hangs", local: true, lasts: seconds(5, 60), inject: hangAPIServer},
		{name: "etcd killed", local: true, inject: killDaemon("etcd")},
		{name: "kubelet killed", local: true, inject: killDaemon("kubelet")},
		{name: "k6 runner killed", local: true, loading: true, when: anyPod(runnerPods), invalidates: true, inject: breakContainer(runnerPods, "kill-container"), reported: matches(`k6|runner|load`)},
		{name: "k6 runner out of memory", local: true, loading: true, when: anyPod(runnerPods), invalidates: true, inject: breakContainer(runnerPods, "exhaust-container"), reported: matches(`memory|OOM`)},
		{name: "collector killed", local: true, loading: true, when: anyPod(collectorPods), inject: breakContainer(collectorPods, "kill-container")},
		{name: "broker deleted", when: anyPod(brokerPods), invalidates: true, inject: deletePod(brokerPods), reported: matches("kafka")},
		{name: "broker deleted under load", loading: true, when: anyPod(brokerPods), invalidates: true, inject: deletePod(brokerPods), reported: matches("kafka")},
		{name: "PostgreSQL's primary deleted", when: anyPod(primaryPods), invalidates: true, inject: deletePod(primaryPods), reported: matches("postgres")},
		{name: "PostgreSQL's primary deleted under load", loading: true, when: anyPod(primaryPods), invalidates: true, inject: deletePod(primaryPods), reported: matches("postgres")},
		{name: "module killed under load", local: true, loading: true, when: anyPod(modulePods), invalidates: true, inject: breakContainer(modulePods, "kill-container"), reported: matches("gateway|circulation|inventory|import|target")},
		{name: "module killed", local: true, when: anyPod(modulePods), invalidates: true, inject: breakContainer(modulePods, "kill-container"), reported: matches("module|gateway|circulation|inventory|import|target")},
		{name: "Strimzi and k6-operator stopped", lasts: seconds(20, 60), inject: stopDeployments(otherOperators), reported: matches("operator|kafka|k6|load")},
		{name: "CloudNativePG stopped", lasts: seconds(20, 60), inject: stopDeployments([]client.ObjectKey{{Namespace: "cnpg-system", Name: "cnpg-controller-manager"}}), reported: matches("operator|postgres")},
		{name: volumesFault, local: true, when: anyPod(primaryPods), lasts: seconds(20, 60), inject: fillVolumes, reported: matches("space|disk|kafka|postgres")},
		{name: "node cordoned", lasts: seconds(20, 60), inject: cordonNode, reported: matches("node|schedul")},
		{name: "quota used up", lasts: seconds(20, 60), inject: exhaustQuota, reported: matches("quota")},
		{name: "ConfigMap deleted", inject: deleteConfigMap, reported: matches("ConfigMap|results|scripts|metrics")},
		{name: clockFault, local: true, lasts: seconds(10, 40), inject: moveClock, reported: matches("clock|deadline|within")},
	}
}

// selectedFaults returns the faults that the variables select and this cluster allows.
func (c *chaos) selectedFaults() []fault {
	part, clock := os.Getenv("CHAOS_ONLY"), os.Getenv("CHAOS_CLOCK") != ""
	return slices.DeleteFunc(faults(), func(f fault) bool {
		return !strings.Contains(f.name, part) || f.name == clockFault && !clock || f.name == volumesFault && c.unbounded || f.local && !c.local
	})
}

func faultNames() []string {
	var names []string
	for _, f := range faults() {
		names = append(names, f.name)
	}
	return names
}

func matches(words string) *regexp.Regexp { return regexp.MustCompile("(?i)" + words) }

func seconds(least, most int) func(*chaos) time.Duration {
	return func(c *chaos) time.Duration {
		return c.randomDuration(time.Duration(least)*time.Second, time.Duration(most)*time.Second)
	}
}

// outage returns the duration of an outage. It is usually short, but one in eight takes
// minutes.
func outage(c *chaos) time.Duration {
	if c.rand.IntN(8) == 0 {
		return c.randomDuration(time.Minute, 5*time.Minute)
	}
	return c.randomDuration(5*time.Second, time.Minute)
}

func anyPod(labels client.MatchingLabels) func(context.Context, *subject) bool {
	return func(ctx context.Context, s *subject) bool { return len(s.pods(ctx, labels)) > 0 }
}

func noHeal(context.Context) error { return nil }

// runScript runs a script of the local cluster.
func runScript(ctx context.Context, script string, arguments ...string) error {
	output, err := exec.CommandContext(ctx, "../../hack/cluster/"+script, arguments...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", script, strings.Join(arguments, " "), err, output)
	}
	return nil
}

func clusterUp(ctx context.Context) error { return runScript(ctx, "cluster.sh", "up") }

func killDaemon(name string) func(context.Context, *subject) (string, func(context.Context) error, error) {
	return func(ctx context.Context, _ *subject) (string, func(context.Context) error, error) {
		return "", clusterUp, runScript(ctx, "break.sh", "kill", name)
	}
}

func hangAPIServer(ctx context.Context, _ *subject) (string, func(context.Context) error, error) {
	resume := func(ctx context.Context) error { return runScript(ctx, "break.sh", "resume", "kube-apiserver") }
	return "", resume, runScript(ctx, "break.sh", "pause", "kube-apiserver")
}

// breakContainer applies an action to the first container of a pod with these labels.
func breakContainer(labels client.MatchingLabels, action string) func(context.Context, *subject) (string, func(context.Context) error, error) {
	return func(ctx context.Context, s *subject) (string, func(context.Context) error, error) {
		pods := s.pods(ctx, labels)
		if len(pods) == 0 {
			return "nothing: no such pod", noHeal, nil
		}
		return pods[0].Name, noHeal, runScript(ctx, "break.sh", action, containerID(pods[0]))
	}
}

func containerID(pod corev1.Pod) string {
	return strings.TrimPrefix(pod.Status.ContainerStatuses[0].ContainerID, "containerd://")
}

func deletePod(labels client.MatchingLabels) func(context.Context, *subject) (string, func(context.Context) error, error) {
	return func(ctx context.Context, s *subject) (string, func(context.Context) error, error) {
		pods := s.pods(ctx, labels)
		if len(pods) == 0 {
			return "nothing: no such pod", noHeal, nil
		}
		return fmt.Sprintf("%s (instances: %d)", pods[0].Name, s.instances), noHeal, cluster.Delete(ctx, &pods[0])
	}
}

func crashOperator(ctx context.Context, _ *subject) (string, func(context.Context) error, error) {
	pods := running(ctx, operatorNamespace, operatorPods)
	if len(pods) == 0 {
		return "nothing: it does not run", noHeal, nil
	}
	return "", restoreOperator, runScript(ctx, "break.sh", "kill-container", containerID(pods[0]))
}

func deleteOperator(ctx context.Context, _ *subject) (string, func(context.Context) error, error) {
	pods := running(ctx, operatorNamespace, operatorPods)
	if len(pods) == 0 {
		return "nothing: it does not run", noHeal, nil
	}
	return pods[0].Name, noHeal, cluster.Delete(ctx, &pods[0], client.GracePeriodSeconds(0))
}

// restoreOperator deletes an operator pod that waits to restart, because the kubelet's
// back-off grows to minutes after several kills.
func restoreOperator(ctx context.Context) error {
	list := &corev1.PodList{}
	if err := cluster.List(ctx, list, client.InNamespace(operatorNamespace), operatorPods); err != nil {
		return err
	}
	for _, pod := range list.Items {
		for _, status := range pod.Status.ContainerStatuses {
			if status.State.Running == nil && status.RestartCount > 0 {
				return client.IgnoreNotFound(cluster.Delete(ctx, &pod))
			}
		}
	}
	return nil
}

// crashOperatorAfterWrite waits until the operator writes a run's status, and kills
// it before the next write.
func crashOperatorAfterWrite(ctx context.Context, s *subject) (string, func(context.Context) error, error) {
	first, err := s.versions(ctx)
	if err != nil {
		return "", noHeal, err
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); pause(ctx, 10*time.Millisecond) {
		now, err := s.versions(ctx)
		if err != nil {
			return "", noHeal, err
		}
		if now != first {
			break
		}
	}
	return crashOperator(ctx, s)
}

// versions returns the resource versions of the runs.
func (s *subject) versions(ctx context.Context) (string, error) {
	now, err := s.observe(ctx)
	if err != nil {
		return "", err
	}
	var versions []string
	for _, run := range now.runs {
		versions = append(versions, run.Name+run.ResourceVersion)
	}
	slices.Sort(versions)
	return strings.Join(versions, " "), nil
}

func takeLease(ctx context.Context, _ *subject) (string, func(context.Context) error, error) {
	lease := &coordinationv1.Lease{}
	if err := cluster.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: "manager.perflab.dev"}, lease); err != nil {
		return "", noHeal, err
	}
	before := lease.DeepCopy()
	other, now := "somebody-else", metav1.NowMicro()
	lease.Spec.HolderIdentity, lease.Spec.AcquireTime, lease.Spec.RenewTime = &other, &now, &now
	led := running(ctx, operatorNamespace, operatorPods)
	heal := func(ctx context.Context) error {
		awaitExit(ctx, led)
		return restoreOperator(ctx)
	}
	return "", heal, cluster.Patch(ctx, lease, client.MergeFrom(before))
}

// awaitExit waits until the operator has lost its lease and exited: it retries the
// lease for some seconds. Only then does the kubelet's back-off start.
func awaitExit(ctx context.Context, led []corev1.Pod) {
	const longest = time.Minute
	for deadline := time.Now().Add(longest); time.Now().Before(deadline); pause(ctx, time.Second) {
		still := map[string]bool{}
		for _, pod := range running(ctx, operatorNamespace, operatorPods) {
			still[containerID(pod)] = true
		}
		if slices.ContainsFunc(led, func(pod corev1.Pod) bool { return !still[containerID(pod)] }) {
			return
		}
	}
}

// otherOperators are the Deployments of Strimzi and k6-operator, and of their emulators.
var otherOperators = append([]client.ObjectKey{{Namespace: "k6-operator-system", Name: "k6-operator-controller-manager"}}, kafkaOperators...)

// stopDeployments scales those Deployments to zero that the cluster has, until the fault is healed.
func stopDeployments(keys []client.ObjectKey) func(context.Context, *subject) (string, func(context.Context) error, error) {
	scale := func(ctx context.Context, replicas int32) (stopped []string, err error) {
		for _, key := range keys {
			deployment := &appsv1.Deployment{}
			if err := cluster.Get(ctx, key, deployment); err != nil {
				if apierrors.IsNotFound(err) {
					continue
				}
				return nil, err
			}
			before := deployment.DeepCopy()
			deployment.Spec.Replicas = &replicas
			if err := cluster.Patch(ctx, deployment, client.MergeFrom(before)); err != nil {
				return nil, err
			}
			stopped = append(stopped, key.Name)
		}
		return stopped, nil
	}
	start := func(ctx context.Context) error {
		_, err := scale(ctx, 1)
		return err
	}
	return func(ctx context.Context, _ *subject) (string, func(context.Context) error, error) {
		stopped, err := scale(ctx, 0)
		return strings.Join(stopped, ", "), start, err
	}
}

func fillVolumes(ctx context.Context, _ *subject) (string, func(context.Context) error, error) {
	return "", func(ctx context.Context) error { return runScript(ctx, "break.sh", "free-volumes") }, runScript(ctx, "break.sh", "fill-volumes")
}

func cordonNode(ctx context.Context, _ *subject) (string, func(context.Context) error, error) {
	all := func(ctx context.Context, unschedulable bool) error {
		nodes := &corev1.NodeList{}
		err := cluster.List(ctx, nodes)
		for _, node := range nodes.Items {
			err = errors.Join(err, cordon(ctx, node.Name, unschedulable))
		}
		return err
	}
	return "", func(ctx context.Context) error { return all(ctx, false) }, all(ctx, true)
}

func exhaustQuota(ctx context.Context, s *subject) (string, func(context.Context) error, error) {
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: s.experiment.Namespace, Name: "used-up"}}
	quota.Spec.Hard = corev1.ResourceList{
		corev1.ResourcePods: resource.MustParse("0"), "count/configmaps": resource.MustParse("0"), "count/deployments.apps": resource.MustParse("0"),
	}
	return "", func(ctx context.Context) error { return client.IgnoreNotFound(cluster.Delete(ctx, quota)) }, cluster.Create(ctx, quota)
}

// deleteConfigMap deletes a ConfigMap that belongs to the experiment or to one of its
// objects.
func deleteConfigMap(ctx context.Context, s *subject) (string, func(context.Context) error, error) {
	list := &corev1.ConfigMapList{}
	if err := cluster.List(ctx, list, client.InNamespace(s.experiment.Namespace)); err != nil {
		return "", noHeal, err
	}
	ours := slices.DeleteFunc(list.Items, func(m corev1.ConfigMap) bool { return len(m.OwnerReferences) == 0 })
	if len(ours) == 0 {
		return "none", noHeal, nil
	}
	slices.SortFunc(ours, func(a, b corev1.ConfigMap) int { return strings.Compare(a.Name, b.Name) })
	chosen := ours[s.rand.IntN(len(ours))]
	return chosen.Name, noHeal, client.IgnoreNotFound(cluster.Delete(ctx, &chosen))
}

// moveClock moves the machine's clock by three minutes. The operator allows a smaller
// difference to a server's clock.
func moveClock(ctx context.Context, s *subject) (string, func(context.Context) error, error) {
	by := "180"
	if s.instances == 2 {
		by = "-180"
	}
	back := strings.TrimPrefix("-"+by, "--")
	return by + " s", func(ctx context.Context) error { return runScript(ctx, "break.sh", "move-clock", back) }, runScript(ctx, "break.sh", "move-clock", by)
}
