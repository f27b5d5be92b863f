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
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
)

// fault is one thing that goes wrong.
type fault struct {
	name string
	// loading: it is made while a load is on.
	loading bool
	// spoils: a load that it hits is not what was asked for.
	spoils bool
	// when there is something that it can hit; nil: always.
	when func(context.Context, *scene) bool
	// lasts is how long it stays; nil: it is over at once.
	lasts func(*chaos) time.Duration
	// strike does it, tells what it hit, and how it is mended.
	strike func(context.Context, *scene) (string, func(context.Context) error, error)
	// told finds it in a condition; nil where no harm is to come of it.
	told *regexp.Regexp
}

// overdue: a person should have read of it by now. What hits those who would tell
// has only to be over soon.
func (f fault) overdue(struck, healed time.Time) bool {
	if f.told == nil {
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
		{name: "operator killed", strike: operatorKilled},
		{name: "operator killed after a write", strike: operatorKilledAfterAWrite},
		{name: "leader's lease taken away", strike: leaseTaken},
		{name: "API server killed", lasts: outage, strike: daemonKilled("kube-apiserver")},
		{name: "API server hangs", lasts: seconds(5, 60), strike: apiServerHangs},
		{name: "etcd killed", strike: daemonKilled("etcd")},
		{name: "kubelet killed", strike: daemonKilled("kubelet")},
		{name: "k6 runner killed", loading: true, when: some(runnerPods), spoils: true, strike: containerOf(runnerPods, "kill-container"), told: mentions(`k6|runner|load`)},
		{name: "k6 runner out of memory", loading: true, when: some(runnerPods), spoils: true, strike: containerOf(runnerPods, "exhaust-container"), told: mentions(`memory|OOM`)},
		{name: "collector killed", loading: true, when: some(collectorPods), strike: containerOf(collectorPods, "kill-container")},
		{name: "broker deleted", when: some(brokerPods), spoils: true, strike: podDeleted(brokerPods), told: mentions("kafka")},
		{name: "broker deleted under load", loading: true, when: some(brokerPods), spoils: true, strike: podDeleted(brokerPods), told: mentions("kafka")},
		{name: "PostgreSQL's primary deleted", when: some(primaryPods), spoils: true, strike: podDeleted(primaryPods), told: mentions("postgres")},
		{name: "PostgreSQL's primary deleted under load", loading: true, when: some(primaryPods), spoils: true, strike: podDeleted(primaryPods), told: mentions("postgres")},
		{name: "module killed under load", loading: true, when: some(modulePods), spoils: true, strike: containerOf(modulePods, "kill-container"), told: mentions("gateway|circulation|inventory|import|target")},
		{name: "module killed", when: some(modulePods), spoils: true, strike: containerOf(modulePods, "kill-container"), told: mentions("module|gateway|circulation|inventory|import|target")},
		{name: "Strimzi and k6-operator stopped", lasts: seconds(20, 60), strike: stopped("perflab-emulators", "emulators"), told: mentions("operator|kafka|k6|load")},
		{name: "CloudNativePG stopped", lasts: seconds(20, 60), strike: stopped("cnpg-system", "cnpg-controller-manager"), told: mentions("operator|postgres")},
		{name: volumesFault, when: some(primaryPods), lasts: seconds(20, 60), strike: volumesFull, told: mentions("space|disk|kafka|postgres")},
		{name: "node cordoned", lasts: seconds(20, 60), strike: cordoned, told: mentions("node|schedul")},
		{name: "quota used up", lasts: seconds(20, 60), strike: quotaUsedUp, told: mentions("quota")},
		{name: "ConfigMap deleted", strike: configMapDeleted, told: mentions("ConfigMap|results|scripts|metrics")},
		{name: clockFault, lasts: seconds(10, 40), strike: clockMoved, told: mentions("clock|deadline|within")},
	}
}

// chosen are the faults that are asked for, and can be made here.
func (c *chaos) chosen() []fault {
	part, clock := os.Getenv("CHAOS_ONLY"), os.Getenv("CHAOS_CLOCK") != ""
	return slices.DeleteFunc(faults(), func(f fault) bool {
		return !strings.Contains(f.name, part) || f.name == clockFault && !clock || f.name == volumesFault && c.unbounded
	})
}

func faultNames() []string {
	var names []string
	for _, f := range faults() {
		names = append(names, f.name)
	}
	return names
}

func mentions(words string) *regexp.Regexp { return regexp.MustCompile("(?i)" + words) }

func seconds(least, most int) func(*chaos) time.Duration {
	return func(c *chaos) time.Duration {
		return c.between(time.Duration(least)*time.Second, time.Duration(most)*time.Second)
	}
}

// outage is short most of the time, and one in eight takes minutes.
func outage(c *chaos) time.Duration {
	if c.rand.IntN(8) == 0 {
		return c.between(time.Minute, 5*time.Minute)
	}
	return c.between(5*time.Second, time.Minute)
}

func some(labels client.MatchingLabels) func(context.Context, *scene) bool {
	return func(ctx context.Context, s *scene) bool { return len(s.pods(ctx, labels)) > 0 }
}

func nothing(context.Context) error { return nil }

// tool has the local cluster's own scripts do something.
func tool(ctx context.Context, script string, arguments ...string) error {
	output, err := exec.CommandContext(ctx, "../../hack/cluster/"+script, arguments...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", script, strings.Join(arguments, " "), err, output)
	}
	return nil
}

func clusterUp(ctx context.Context) error { return tool(ctx, "cluster.sh", "up") }

func daemonKilled(name string) func(context.Context, *scene) (string, func(context.Context) error, error) {
	return func(ctx context.Context, _ *scene) (string, func(context.Context) error, error) {
		return "", clusterUp, tool(ctx, "break.sh", "kill", name)
	}
}

func apiServerHangs(ctx context.Context, _ *scene) (string, func(context.Context) error, error) {
	resume := func(ctx context.Context) error { return tool(ctx, "break.sh", "resume", "kube-apiserver") }
	return "", resume, tool(ctx, "break.sh", "pause", "kube-apiserver")
}

// containerOf has something done to the first container of a pod with these labels.
func containerOf(labels client.MatchingLabels, action string) func(context.Context, *scene) (string, func(context.Context) error, error) {
	return func(ctx context.Context, s *scene) (string, func(context.Context) error, error) {
		pods := s.pods(ctx, labels)
		if len(pods) == 0 {
			return "nothing: no such pod", nothing, nil
		}
		return pods[0].Name, nothing, tool(ctx, "break.sh", action, containerID(pods[0]))
	}
}

func containerID(pod corev1.Pod) string {
	return strings.TrimPrefix(pod.Status.ContainerStatuses[0].ContainerID, "containerd://")
}

func podDeleted(labels client.MatchingLabels) func(context.Context, *scene) (string, func(context.Context) error, error) {
	return func(ctx context.Context, s *scene) (string, func(context.Context) error, error) {
		pods := s.pods(ctx, labels)
		if len(pods) == 0 {
			return "nothing: no such pod", nothing, nil
		}
		return fmt.Sprintf("%s (instances: %d)", pods[0].Name, s.instances), nothing, cluster.Delete(ctx, &pods[0])
	}
}

func operatorKilled(ctx context.Context, _ *scene) (string, func(context.Context) error, error) {
	pods := running(ctx, operatorNamespace, operatorPods)
	if len(pods) == 0 {
		return "nothing: it does not run", nothing, nil
	}
	return "", operatorBack, tool(ctx, "break.sh", "kill-container", containerID(pods[0]))
}

// operatorBack spares the operator the kubelet's back-off, which grows to minutes
// when it is killed again and again.
func operatorBack(ctx context.Context) error {
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

// operatorKilledAfterAWrite waits until it writes a run's status, and is there
// before the next write.
func operatorKilledAfterAWrite(ctx context.Context, s *scene) (string, func(context.Context) error, error) {
	first, err := s.versions(ctx)
	if err != nil {
		return "", nothing, err
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); pause(ctx, 10*time.Millisecond) {
		now, err := s.versions(ctx)
		if err != nil {
			return "", nothing, err
		}
		if now != first {
			break
		}
	}
	return operatorKilled(ctx, s)
}

// versions are those of the runs.
func (s *scene) versions(ctx context.Context) (string, error) {
	now, err := s.look(ctx)
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

func leaseTaken(ctx context.Context, _ *scene) (string, func(context.Context) error, error) {
	lease := &coordinationv1.Lease{}
	if err := cluster.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: "manager.perflab.dev"}, lease); err != nil {
		return "", nothing, err
	}
	before := lease.DeepCopy()
	other, now := "somebody-else", metav1.NowMicro()
	lease.Spec.HolderIdentity, lease.Spec.AcquireTime, lease.Spec.RenewTime = &other, &now, &now
	led := running(ctx, operatorNamespace, operatorPods)
	heal := func(ctx context.Context) error {
		awaitEndOf(ctx, led)
		return operatorBack(ctx)
	}
	return "", heal, cluster.Patch(ctx, lease, client.MergeFrom(before))
}

// awaitEndOf waits until the operator has seen that it no longer leads, and has ended:
// it tries for some seconds to keep its lease. Only then does the kubelet hold it back.
func awaitEndOf(ctx context.Context, led []corev1.Pod) {
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

// stopped scales a Deployment to nothing for a while.
func stopped(namespace, name string) func(context.Context, *scene) (string, func(context.Context) error, error) {
	scale := func(ctx context.Context, replicas int32) error {
		deployment := &appsv1.Deployment{}
		if err := cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, deployment); err != nil {
			return err
		}
		before := deployment.DeepCopy()
		deployment.Spec.Replicas = &replicas
		return cluster.Patch(ctx, deployment, client.MergeFrom(before))
	}
	return func(ctx context.Context, _ *scene) (string, func(context.Context) error, error) {
		return "", func(ctx context.Context) error { return scale(ctx, 1) }, scale(ctx, 0)
	}
}

func volumesFull(ctx context.Context, _ *scene) (string, func(context.Context) error, error) {
	return "", func(ctx context.Context) error { return tool(ctx, "break.sh", "free-volumes") }, tool(ctx, "break.sh", "fill-volumes")
}

func cordoned(ctx context.Context, _ *scene) (string, func(context.Context) error, error) {
	cordon := func(ctx context.Context, unschedulable bool) error {
		nodes := &corev1.NodeList{}
		err := cluster.List(ctx, nodes)
		for _, node := range nodes.Items {
			before := node.DeepCopy()
			node.Spec.Unschedulable = unschedulable
			err = errors.Join(err, cluster.Patch(ctx, &node, client.MergeFrom(before)))
		}
		return err
	}
	return "", func(ctx context.Context) error { return cordon(ctx, false) }, cordon(ctx, true)
}

func quotaUsedUp(ctx context.Context, s *scene) (string, func(context.Context) error, error) {
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: s.experiment.Namespace, Name: "used-up"}}
	quota.Spec.Hard = corev1.ResourceList{
		corev1.ResourcePods: resource.MustParse("0"), "count/configmaps": resource.MustParse("0"), "count/deployments.apps": resource.MustParse("0"),
	}
	return "", func(ctx context.Context) error { return client.IgnoreNotFound(cluster.Delete(ctx, quota)) }, cluster.Create(ctx, quota)
}

// configMapDeleted takes one of those that belong to the experiment, or to what
// it made.
func configMapDeleted(ctx context.Context, s *scene) (string, func(context.Context) error, error) {
	list := &corev1.ConfigMapList{}
	if err := cluster.List(ctx, list, client.InNamespace(s.experiment.Namespace)); err != nil {
		return "", nothing, err
	}
	ours := slices.DeleteFunc(list.Items, func(m corev1.ConfigMap) bool { return len(m.OwnerReferences) == 0 })
	if len(ours) == 0 {
		return "nothing: there is none", nothing, nil
	}
	slices.SortFunc(ours, func(a, b corev1.ConfigMap) int { return strings.Compare(a.Name, b.Name) })
	chosen := ours[s.rand.IntN(len(ours))]
	return chosen.Name, nothing, client.IgnoreNotFound(cluster.Delete(ctx, &chosen))
}

// clockMoved moves the machine's clock by three minutes, which is more than any
// time that the operator allows a server to be wrong.
func clockMoved(ctx context.Context, s *scene) (string, func(context.Context) error, error) {
	by := "180"
	if s.instances == 2 {
		by = "-180"
	}
	back := strings.TrimPrefix("-"+by, "--")
	return by + " s", func(ctx context.Context) error { return tool(ctx, "break.sh", "move-clock", back) }, tool(ctx, "break.sh", "move-clock", by)
}
