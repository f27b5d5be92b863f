// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/testing/expect"
)

// started is the start-up log of a JVM with a heap of 676 MiB.
const started = `[0.003s][info][gc,init] Version: 17.0.15+6 (release)
[0.003s][info][gc,init] Memory: 1024M
[0.003s][info][gc,init] Heap Region Size: 1M
[0.003s][info][gc,init] Heap Max Capacity: 676M
[0.003s][info][gc,init] Pre-touch: Disabled
12:00:00 INFO the module is up
`

// heapOf66Percent sets the module's heap to 66 % of 1 GiB, which is 676 MiB.
func heapOf66Percent(e *v1alpha1.PerfExperiment) {
	module := &e.Spec.System.Modules[0]
	module.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
	module.JVM = &v1alpha1.JVM{Heap: &v1alpha1.Heap{MaxRAMPercentage: "66"}}
}

// gateways are the pods of the module.
func (l *lab) gateways() []corev1.Pod {
	l.t.Helper()
	return l.pods(naming.ComponentLabels("small", environment.ComponentModule))
}

func TestGrantedHeapIsVerified(t *testing.T) {
	l := newLab(t, complete)
	l.outside.moduleLog = started
	l.create(login(), smallExperiment(t, oneArm, heapOf66Percent))
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	found := l.run().Status.Effective.Modules[0]
	if found.Heap == nil || found.Heap.String() != "676Mi" || found.Collector != "G1" || len(found.Pods) != 1 {
		t.Errorf("effective is %+v, want a heap of 676Mi, G1 and a pod", found)
	}
}

func TestWrongHeapInvalidatesRun(t *testing.T) {
	cases := map[string]struct {
		log  string
		want []string
	}{
		"Smaller": {
			log:  strings.ReplaceAll(strings.ReplaceAll(started, "676M", "512M"), "1024M", "776M"),
			want: []string{"the JVM of gateway has a maximum heap of 512 MiB", "its declaration gives 676 MiB", "it detects 776 MiB of memory, not the container's 1024 MiB"},
		},
		"Silent": {log: "the module is up\n", want: []string{"the log of gateway shows no heap", "does not pass JAVA_OPTIONS to the JVM"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.outside.moduleLog = tc.log
			l.create(login(), smallExperiment(t, oneArm, heapOf66Percent))
			invalid := l.untilRun(v1alpha1.RunInvalid)
			l.expect(invalid.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonEffectiveConfiguration, tc.want...)
			if invalid.Status.Timings.LoadStart != nil {
				t.Error("load was put on all the same")
			}
		})
	}
}

func TestUnreadableLogIsRetried(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm, heapOf66Percent))
	l.until("a condition that reports it", func() bool {
		condition := meta.FindStatusCondition(l.experiment("small").Status.Conditions, v1alpha1.ConditionModulesReady)
		return condition != nil && strings.Contains(condition.Message, "the pod has no log")
	})
	l.expect(l.run().Status.Conditions, v1alpha1.ConditionModulesReady, metav1.ConditionFalse, v1alpha1.ReasonNotReady, "module gateway")
	l.outside.moduleLog = started
	l.untilPhase("small", v1alpha1.ExperimentComplete)
}

// crash lets the container of a pod run out of memory and restart.
func (l *lab) crash(pod corev1.Pod) {
	l.t.Helper()
	status := &pod.Status.ContainerStatuses[0]
	status.RestartCount++
	status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137, FinishedAt: metav1.NewTime(l.now)}
	expect.NoError(l.t, l.admin.Status().Update(l.t.Context(), &pod), "letting pod %s end", pod.Name)
}

// underLoad waits until the load is running.
func (l *lab) underLoad() {
	l.t.Helper()
	l.until("load", func() bool { return l.run() != nil && l.run().Status.Phase == v1alpha1.RunLoading })
}

func TestRestartsUnderLoad(t *testing.T) {
	cases := map[string]struct {
		allowed *int32
		happens func(*lab)
		// want is the message of an invalid run; empty: the run is valid.
		want     []string
		restarts int32
	}{
		"OutOfMemory": {
			happens: func(l *lab) { l.crash(l.gateways()[0]) },
			want:    []string{"gateway 1 time (OOMKilled, exit code 137)", "validity.maxRestarts allows 0"}, restarts: 1,
		},
		"Allowed": {allowed: ptr.To[int32](1), happens: func(l *lab) { l.crash(l.gateways()[0]) }, restarts: 1},
		"Replaced": {
			happens: func(l *lab) {
				pod := l.gateways()[0]
				l.remove(&pod)
				l.playModules()
			},
			want: []string{"gateway 1 time"}, restarts: 1,
		},
		"None": {happens: func(*lab) {}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) { e.Spec.Validity.MaxRestarts = tc.allowed }))
			l.target.err = errCut
			l.until("modules that are up", func() bool { return len(l.gateways()) == 1 })
			// Restarts before the load don't count.
			l.crash(l.gateways()[0])
			l.target.err = nil
			l.underLoad()
			l.now = l.now.Add(time.Second)
			tc.happens(l)
			var over *v1alpha1.PerfRun
			if len(tc.want) > 0 {
				over = l.untilRun(v1alpha1.RunInvalid)
				l.expect(over.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonRestarts, tc.want...)
			} else {
				over = l.untilRun(v1alpha1.RunSucceeded)
			}
			if got := over.Status.Effective.Modules[0].Restarts; got != tc.restarts {
				t.Errorf("%d restarts are recorded, want %d", got, tc.restarts)
			}
		})
	}
}

// onNode creates a node of a type, on which all pods run, and returns its name.
func (l *lab) onNode(instanceType string) string {
	l.t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: l.namespace + "-node", Labels: map[string]string{corev1.LabelInstanceTypeStable: instanceType}}}
	expect.NoError(l.t, l.admin.Create(l.t.Context(), node), "making a node")
	l.outside.node = node.Name
	return node.Name
}

func priced(e *v1alpha1.PerfExperiment) {
	e.Spec.Cost = &v1alpha1.Cost{PriceList: v1alpha1.ConfigMapName{Name: "prices"}, Currency: "EUR"}
}

func TestRunCostIsNodeCost(t *testing.T) {
	l := newLab(t, complete)
	name := l.onNode("r7g.xlarge")
	l.create(login(), smallExperiment(t, oneArm, priced), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "prices"}, Data: map[string]string{"r7g.xlarge": "0.2142"},
	})
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	status := l.run().Status
	want := v1alpha1.EffectiveNode{Name: name, InstanceType: "r7g.xlarge", Pods: 3, PricePerHour: "0.2142"}
	if nodes := status.Effective.Nodes; len(nodes) != 1 || nodes[0] != want {
		t.Errorf("nodes are %+v, want %+v: a broker, a PostgreSQL and the module", nodes, want)
	}
	if pods := status.Effective.Modules[0].Pods; len(pods) != 1 || pods[0].Node != name {
		t.Errorf("the module's pods are %+v, want one on %s", pods, name)
	}
	if cost := costObservation(status); cost == nil || cost.Value != "0.2142" || cost.Unit != "EUR/h" {
		t.Errorf("the cost is %+v, want 0.2142 EUR/h", cost)
	}
	l.expect(status.Conditions, v1alpha1.ConditionPriced, metav1.ConditionTrue, v1alpha1.ReasonPriced)
}

func TestUnknownCostIsNotZero(t *testing.T) {
	cases := map[string]struct {
		prices map[string]string
		want   []string
	}{
		"NoList":     {want: []string{`ConfigMap "prices" not found`}},
		"OtherTypes": {prices: map[string]string{"c7g.large": "0.0725"}, want: []string{`"prices" lacks the price of r7g.xlarge; add it`}},
		"BadPrice":   {prices: map[string]string{"r7g.xlarge": "0,21"}, want: []string{"r7g.xlarge", `the price "0,21"`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.onNode("r7g.xlarge")
			if tc.prices != nil {
				l.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "prices"}, Data: tc.prices})
			}
			l.create(login(), smallExperiment(t, oneArm, priced))
			l.untilPhase("small", v1alpha1.ExperimentComplete)
			status := l.run().Status
			l.expect(status.Conditions, v1alpha1.ConditionPriced, metav1.ConditionFalse, v1alpha1.ReasonPriceMissing, tc.want...)
			if cost := costObservation(status); cost != nil {
				t.Errorf("the cost is %+v, want none", cost)
			}
			if !strings.Contains(status.Message, tc.want[0]) {
				t.Errorf("the run reports %q, want %q in it", status.Message, tc.want[0])
			}
		})
	}
}

func costObservation(status v1alpha1.PerfRunStatus) *v1alpha1.Observation {
	for i := range status.Observations {
		if status.Observations[i].Metric == "system/cost/perHour" {
			return &status.Observations[i]
		}
	}
	return nil
}

func TestRescheduleDeletesAllPodsFirst(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) {
		e.Spec.Reset = v1alpha1.ResetReschedule
		e.Spec.Design.Blocks = 2
		e.Spec.System.Modules = append(e.Spec.System.Modules, v1alpha1.Module{Name: "storage", Image: "example.org/storage:1"})
	}))
	l.underLoad()
	slow := l.pods(map[string]string{v1alpha1.LabelModule: "gateway"})[0]
	slow.Finalizers = []string{"perflab.dev/test"}
	l.update(&slow)
	l.until("a second run that waits for the pods of the first", func() bool {
		condition := meta.FindStatusCondition(l.run().Status.Conditions, v1alpha1.ConditionModulesReady)
		return len(l.runs()) == 2 && condition != nil && condition.Reason == v1alpha1.ReasonReplacing
	})
	l.play()
	l.settle()
	deployments := &appsv1.DeploymentList{}
	if l.list(deployments); len(deployments.Items) != 0 || len(l.pods(map[string]string{v1alpha1.LabelModule: "storage"})) != 0 {
		t.Errorf("while a pod of the previous run exists, %d Deployments do", len(deployments.Items))
	}
	leaving := l.pods(map[string]string{v1alpha1.LabelModule: "gateway"})[0]
	leaving.Finalizers = nil
	l.update(&leaving)
	l.untilPhase("small", v1alpha1.ExperimentComplete)
}
