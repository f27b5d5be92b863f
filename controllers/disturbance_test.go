// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/payload"
)

const (
	disturbedFor = 100 * time.Second
	lostMetric   = "cico/lostTime@fault-gateway-lost"
)

// outages are how long the check-ins of each arm stop after a fault.
var outages = map[string]time.Duration{"as-is": 2 * time.Second, "slow": 12 * time.Second}

// withFault kills the gateway's pod in loads of 100 s.
func withFault(e *v1alpha1.PerfExperiment) {
	e.Spec.Measurement.WarmUp = nil
	scenario := &e.Spec.Scenarios[0]
	scenario.Loads[0].Duration = &metav1.Duration{Duration: disturbedFor}
	scenario.Faults = []v1alpha1.Fault{{
		Name: "gateway-lost", After: metav1.Duration{Duration: 30 * time.Second}, Observe: &metav1.Duration{Duration: 40 * time.Second},
		Kill: &v1alpha1.KillFault{Module: "gateway"},
	}}
}

// measureOutages makes k6 report check-ins that stop for a while after the run's fault starts.
func (l *lab) measureOutages() {
	l.outside.lasts = disturbedFor
	l.outside.forge = func(own *payload.Payload) {
		run := l.runNamed(own.Run)
		start := own.Start
		forged := payload.New(own.Load, own.Run, own.Runner, start)
		for at := time.Duration(0); at < l.outside.lasts; at += time.Second {
			isOut := false
			for _, fault := range run.Status.Faults {
				if fault.Begin != nil {
					since := start.Add(at).Sub(fault.Begin.Time)
					isOut = since >= 0 && since < outages[run.Spec.Arm]
				}
			}
			for range 20 {
				if !isOut {
					forged.Record("Check-In", payload.OK, start.Add(at), 100*time.Millisecond)
				}
			}
		}
		forged.End, forged.Final = start.Add(l.outside.lasts), true
		*own = *forged
	}
}

// The pod that the status lists is killed once, in each run, and the run is valid.
func TestFaultIsInjected(t *testing.T) {
	l := newLab(t, complete)
	l.measureOutages()
	l.create(login(), smallExperiment(t, withFault))
	pods := map[string]bool{}
	l.eachRound = func() {
		for _, pod := range l.pods(map[string]string{v1alpha1.LabelModule: "gateway"}) {
			pods[string(pod.UID)] = true
		}
	}
	done := l.untilPhase("small", v1alpha1.ExperimentComplete)
	for _, run := range l.runs() {
		if run.Status.Phase != v1alpha1.RunSucceeded || len(run.Status.Faults) != 1 {
			t.Fatalf("run %s is %s: %s; faults %+v", run.Name, run.Status.Phase, run.Status.Message, run.Status.Faults)
		}
		fault := run.Status.Faults[0]
		if len(fault.Targets) != 1 || !pods[string(fault.Targets[0].UID)] || fault.Begin == nil || fault.Begin.Before(&fault.Due) || fault.Ready == nil || fault.Restarts != 1 {
			t.Errorf("run %s: fault %+v", run.Name, fault)
		}
		expect.Equal(t, 40*time.Second, fault.End.Sub(fault.Begin.Time), "the observation of run %s", run.Name)
		for _, observed := range run.Status.Observations {
			if observed.Metric != lostMetric {
				continue
			}
			value, err := decimal.Parse(observed.Value)
			if want := outages[run.Spec.Arm].Seconds(); err != nil || value < want-1 || value > want+1 {
				t.Errorf("run %s lost %s s, want about %v", run.Name, observed.Value, want)
			}
		}
	}
	expect.Equal(t, []string{lostMetric, "cico/excessErrors@fault-gateway-lost"}, done.Status.Analysis.Primary, "primary metrics")
	l.verifyChain("small")
}

// A lost node takes all pods of the system on it, each of which is replaced.
func TestWholeNodeIsLost(t *testing.T) {
	l := newLab(t, complete)
	l.measureOutages()
	l.create(login(), smallExperiment(t, oneArm, withFault, withVolume, func(e *v1alpha1.PerfExperiment) {
		e.Spec.Scenarios[0].Faults[0].Kill.WholeNode = true
	}))
	run := l.untilRun(v1alpha1.RunSucceeded)
	system, fault := run.Status.Effective, run.Status.Faults[0]
	pods := len(system.KafkaPods) + len(system.PostgresPods)
	for _, module := range system.Modules {
		pods += len(module.Pods)
	}
	if pods < 3 || len(fault.Targets) != pods || fault.Candidates != int32(pods) || fault.Ready == nil || fault.Restarts != int32(pods) {
		t.Errorf("the system has %d pods, and the fault is %+v", pods, fault)
	}
}

// The fault adds partitions once in each run, and the next run has the declared ones again.
func TestPartitionsAreRaised(t *testing.T) {
	l := newLab(t, complete)
	l.measureOutages()
	l.create(login(), smallExperiment(t, oneArm, twoBlocks, withFault, func(e *v1alpha1.PerfExperiment) {
		e.Spec.System.Kafka.Topics = []v1alpha1.TopicGroup{{Group: "imports", Names: []string{"one", "two"}, Partitions: 2}, {Group: "idle", Names: []string{"three"}}}
		fault := &e.Spec.Scenarios[0].Faults[0]
		fault.Kill, fault.Partitions = nil, &v1alpha1.PartitionsFault{Group: "imports", Count: 5}
	}))
	seen := map[string]int{}
	l.eachRound = func() {
		for _, run := range l.runs() {
			if run.Status.Phase == v1alpha1.RunLoading && len(run.Status.Faults) > 0 {
				total := int32(0)
				for _, name := range l.brokers.names() {
					state, _ := l.brokers.get(name)
					total += state.Partitions
				}
				seen[fmt.Sprintf("%d %t", total, run.Status.Faults[0].Begin != nil)]++
			}
		}
	}
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	runs := l.runs()
	expect.Equal(t, 2, len(runs), "runs")
	for _, run := range runs {
		if fault := run.Status.Faults[0]; run.Status.Phase != v1alpha1.RunSucceeded || fault.Begin == nil || fault.Ready == nil || !fault.Gone {
			t.Errorf("run %s is %s: %s; fault %+v", run.Name, run.Status.Phase, run.Status.Message, fault)
		}
	}
	if seen["5 false"] == 0 || seen["11 true"] == 0 || seen["11 false"] > 0 {
		t.Errorf("partitions and whether the fault had begun: %v", seen)
	}
}

// If Kafka fails after it has added some of the partitions, they were not added at one time. The next
// attempt has the declared ones again.
func TestPartitionsOfALostRequest(t *testing.T) {
	l := newLab(t, complete)
	l.measureOutages()
	l.brokers.losesResponse = true
	l.create(login(), smallExperiment(t, oneArm, withFault, func(e *v1alpha1.PerfExperiment) {
		e.Spec.System.Kafka.Topics = []v1alpha1.TopicGroup{{Group: "imports", Names: []string{"one", "two"}}}
		fault := &e.Spec.Scenarios[0].Faults[0]
		fault.Kill, fault.Partitions = nil, &v1alpha1.PartitionsFault{Group: "imports", Count: 5}
	}))
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	runs := l.runs()
	if len(runs) != 2 {
		t.Fatalf("%d attempts, want 2", len(runs))
	}
	l.expect(runs[0].Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonFaultNotInjected, "topics already had 5 partitions")
	if fault := runs[0].Status.Faults[0]; fault.Begin != nil || !fault.Gone {
		t.Errorf("the fault of the first attempt is %+v", fault)
	}
	if fault := runs[1].Status.Faults[0]; runs[1].Status.Phase != v1alpha1.RunSucceeded || fault.Begin == nil {
		t.Errorf("the second attempt is %s: %s; fault %+v", runs[1].Status.Phase, runs[1].Status.Message, fault)
	}
}

// A fault that can't be injected as declared makes the run invalid, with the reason.
func TestFaultIsNotInjected(t *testing.T) {
	for name, tc := range map[string]struct {
		edit  func(*v1alpha1.PerfExperiment, *v1alpha1.Fault)
		stage func(*lab)
		want  string
	}{
		"no such pod": {
			func(_ *v1alpha1.PerfExperiment, fault *v1alpha1.Fault) {
				fault.Kill = &v1alpha1.KillFault{Kafka: v1alpha1.KafkaController}
			},
			func(l *lab) { l.brokers.state.Controller = 7 },
			`fault "gateway-lost" kills Kafka's active controller, but there are 0 such pods`,
		},
		"too many pods": {
			func(e *v1alpha1.PerfExperiment, fault *v1alpha1.Fault) {
				e.Spec.System.Modules[0].Replicas, fault.Kill.WholeNode = ptr.To[int32](64), true
			},
			func(*lab) {},
			"66 pods of the system run on the nodes, and a fault kills at most 64",
		},
		"too late": {func(*v1alpha1.PerfExperiment, *v1alpha1.Fault) {}, func(l *lab) { l.outside.lasts = 20 * time.Second }, `the loads ended before fault "gateway-lost" began`},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.measureOutages()
			tc.stage(l)
			l.create(login(), smallExperiment(t, oneArm, withFault, withVolume, func(e *v1alpha1.PerfExperiment) { tc.edit(e, &e.Spec.Scenarios[0].Faults[0]) }))
			run := l.untilRun(v1alpha1.RunInvalid)
			if condition := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionValid); condition.Reason != v1alpha1.ReasonFaultNotInjected || !strings.Contains(condition.Message, tc.want) {
				t.Errorf("%s: %s, want %q", condition.Reason, condition.Message, tc.want)
			}
		})
	}
}

// A replica becomes the primary, once, and the observation knows when.
func TestSwitchover(t *testing.T) {
	l := newLab(t, complete)
	l.measureOutages()
	l.create(login(), smallExperiment(t, oneArm, withFault, withSwitchover))
	patches := 0
	l.line.before = func(verb string, object any) {
		if verb == patchStatus && strings.HasPrefix(describe(object), "Cluster ") {
			patches++
		}
	}
	primary := ""
	l.eachRound = func() {
		for _, cluster := range l.foreign(contract.PostgresClusterKind) {
			primary = contract.PostgresCluster{Object: &cluster}.CurrentPrimary()
		}
	}
	run := l.untilRun(v1alpha1.RunSucceeded)
	if len(run.Status.Faults) != 1 {
		t.Fatalf("faults %+v", run.Status.Faults)
	}
	fault := run.Status.Faults[0]
	if len(fault.Targets) != 1 || fault.Targets[0].Pod != "small-pg-2" || fault.Begin == nil || fault.Begin.Before(&fault.Due) || fault.Ready == nil {
		t.Errorf("fault %+v", fault)
	}
	expect.Equal(t, 1, patches, "patches of the Cluster's status")
	expect.Equal(t, "small-pg-2", primary, "the primary")
}

// withVolume keeps the topics of the only broker, whose faults would be refused otherwise.
func withVolume(e *v1alpha1.PerfExperiment) {
	e.Spec.System.Kafka.Brokers.Storage = &v1alpha1.Storage{Size: resource.MustParse("1Gi")}
}

func withSwitchover(e *v1alpha1.PerfExperiment) {
	e.Spec.System.Postgres.Instances = 2
	fault := &e.Spec.Scenarios[0].Faults[0]
	fault.Kill, fault.Switchover = nil, &v1alpha1.SwitchoverFault{Postgres: &v1alpha1.PostgresSwitchover{}}
}

// An upgrade of a module replaces its pods one by one, and with less memory all at once. Both end with
// their run.
func TestModuleUpgrade(t *testing.T) {
	for name, tc := range map[string]struct {
		memory   *resource.Quantity
		strategy appsv1.DeploymentStrategyType
	}{
		"image":  {nil, appsv1.RollingUpdateDeploymentStrategyType},
		"memory": {ptr.To(resource.MustParse("300Mi")), appsv1.RecreateDeploymentStrategyType},
	} {
		t.Run(name, func(t *testing.T) { testModuleUpgrade(t, tc.memory, tc.strategy) })
	}
}

func testModuleUpgrade(t *testing.T, memory *resource.Quantity, strategy appsv1.DeploymentStrategyType) {
	const upgraded = "example.org/gateway:2"
	declared := resource.MustParse("512Mi")
	l := newLab(t, complete)
	l.measureOutages()
	l.create(login(), smallExperiment(t, oneArm, twoBlocks, withFault, func(e *v1alpha1.PerfExperiment) {
		fault := &e.Spec.Scenarios[0].Faults[0]
		fault.Kill, fault.Restart = nil, &v1alpha1.RestartFault{Module: "gateway", Image: upgraded, Memory: memory}
		e.Spec.System.Modules[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: declared}
	}))
	seen := map[string]int{}
	l.eachRound = func() {
		deployment := &appsv1.Deployment{}
		if l.admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: naming.Module("small", "gateway")}, deployment) != nil {
			return
		}
		faults := 0
		for _, run := range l.runs() {
			if run.Status.Phase == v1alpha1.RunLoading && len(run.Status.Faults) > 0 && run.Status.Faults[0].Begin != nil && !run.Status.Faults[0].Gone {
				faults++
			}
		}
		container := deployment.Spec.Template.Spec.Containers[0]
		want := declared
		if container.Image == upgraded {
			want = ptr.Deref(memory, declared)
		}
		if limit := container.Resources.Limits.Memory(); !limit.Equal(want) {
			t.Errorf("image %s with a memory limit of %s", container.Image, limit)
		}
		seen[fmt.Sprintf("%t %s %d", container.Image == upgraded, deployment.Spec.Strategy.Type, faults)]++
	}
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	runs := l.runs()
	expect.Equal(t, 2, len(runs), "runs")
	for _, run := range runs {
		if fault := run.Status.Faults[0]; run.Status.Phase != v1alpha1.RunSucceeded || fault.Begin == nil || !fault.Gone || fault.Restarts != 1 {
			t.Errorf("run %s is %s: %s; fault %+v", run.Name, run.Status.Phase, run.Status.Message, fault)
		}
	}
	if seen[fmt.Sprintf("true %s 1", strategy)] == 0 || seen["false Recreate 0"] == 0 || seen["false RollingUpdate 0"] > 0 {
		t.Errorf("the Deployment was seen as %v", seen)
	}
}

// An upgrade of a store is written once in each run, and the next run rebuilds the store.
func TestStoreUpgrades(t *testing.T) {
	for name, tc := range map[string]struct {
		restart      v1alpha1.RestartFault
		kind         schema.GroupVersionKind
		mark, change []string
		want         string
	}{
		"PostgreSQL": {
			v1alpha1.RestartFault{Postgres: &v1alpha1.PostgresRestart{Image: "ghcr.io/cloudnative-pg/postgresql:17.7"}},
			contract.PostgresClusterKind,
			[]string{"metadata", "annotations", restartedAt},
			[]string{"spec", "imageName"},
			"ghcr.io/cloudnative-pg/postgresql:17.7",
		},
		"Kafka": {
			v1alpha1.RestartFault{Kafka: &v1alpha1.KafkaRestart{Version: "4.3.2"}},
			contract.KafkaKind("v1"),
			[]string{"spec", "kafka", "template", "pod", "metadata", "annotations", restartedAt},
			[]string{"spec", "kafka", "version"},
			"4.3.2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.measureOutages()
			l.create(login(), smallExperiment(t, oneArm, twoBlocks, withFault, withVolume, func(e *v1alpha1.PerfExperiment) {
				fault := &e.Spec.Scenarios[0].Faults[0]
				fault.Kill, fault.Restart = nil, &tc.restart
			}))
			upgraded := map[types.UID]string{}
			l.eachRound = func() {
				for _, object := range l.foreign(tc.kind) {
					mark, _, _ := unstructured.NestedString(object.Object, tc.mark...)
					if changed, _, _ := unstructured.NestedString(object.Object, tc.change...); changed == tc.want {
						upgraded[object.GetUID()] = mark
					}
				}
			}
			l.untilPhase("small", v1alpha1.ExperimentComplete)
			var marks []string
			for _, mark := range upgraded {
				marks = append(marks, mark)
			}
			for _, run := range l.runs() {
				if run.Status.Phase != v1alpha1.RunSucceeded || !run.Status.Faults[0].Gone {
					t.Errorf("run %s is %s: %s; faults %+v", run.Name, run.Status.Phase, run.Status.Message, run.Status.Faults)
				}
				if !slices.ContainsFunc(marks, func(mark string) bool { return strings.HasPrefix(mark, run.Name+"/gateway-lost ") }) {
					t.Errorf("run %s left no mark: %q", run.Name, marks)
				}
			}
			expect.Equal(t, 2, len(upgraded), "upgraded objects")
		})
	}
}

// A fault that the API server refuses makes the run invalid, with the refusal.
func TestFaultIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		edit    func(*v1alpha1.PerfExperiment)
		refused string
	}{
		"kill":       {func(*v1alpha1.PerfExperiment) {}, "delete *v1.Pod"},
		"switchover": {withSwitchover, patchStatus + " Cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.measureOutages()
			l.line.refuse = func(what string) error {
				if strings.HasPrefix(what, tc.refused) {
					return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "small", errors.New("a policy forbids it"))
				}
				return nil
			}
			l.create(login(), smallExperiment(t, oneArm, withFault, tc.edit))
			run := l.untilRun(v1alpha1.RunInvalid)
			l.expect(run.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonFaultNotInjected, `fault "gateway-lost" is refused`, "a policy forbids it")
		})
	}
}

// Restarts other than those of a fault still make a run invalid.
func TestRestartsBesideFaultsCount(t *testing.T) {
	l := newLab(t, complete)
	l.measureOutages()
	l.create(login(), smallExperiment(t, oneArm, withFault, func(e *v1alpha1.PerfExperiment) {
		e.Spec.Scenarios[0].Faults[0].Observe = &metav1.Duration{Duration: 20 * time.Second}
	}))
	l.eachRound = func() {
		for _, run := range l.runs() {
			if len(run.Status.Faults) == 0 || run.Status.Faults[0].End == nil || l.now.Before(run.Status.Faults[0].End.Add(10*time.Second)) || run.Status.Timings.LoadFinish != nil {
				continue
			}
			for _, pod := range l.pods(map[string]string{v1alpha1.LabelModule: "gateway"}) {
				expect.NoError(t, l.admin.Delete(t.Context(), &pod, client.GracePeriodSeconds(0)))
			}
			l.eachRound = nil
		}
	}
	run := l.untilRun(v1alpha1.RunInvalid)
	if condition := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionValid); condition.Reason != v1alpha1.ReasonRestarts {
		t.Errorf("%s: %s", condition.Reason, condition.Message)
	}
}

// withResource creates a custom resource instead of killing a pod.
func withResource(manifest string) func(*v1alpha1.PerfExperiment) {
	return func(e *v1alpha1.PerfExperiment) {
		withFault(e)
		e.Spec.ServiceAccountName = author
		fault := &e.Spec.Scenarios[0].Faults[0]
		fault.Kill, fault.Resource = nil, &v1alpha1.ResourceFault{
			Manifest: runtime.RawExtension{Raw: []byte(manifest)}, Begun: v1alpha1.FaultSign{Condition: "Ready"}, Duration: &metav1.Duration{Duration: 20 * time.Second},
		}
	}
}

// A resource is created as the account. Its fault starts when its status reports it, and it is gone
// before the run ends. Here the resource is a pod, because every cluster serves pods.
func TestFaultResource(t *testing.T) {
	l := newLab(t, complete)
	seen := actAsAccounts(l, complete)
	l.newAuthor(author)
	l.measureOutages()
	l.create(login(), smallExperiment(t, oneArm, withResource(`{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"one","image":"example.org/one:1"}]}}`)))
	met := false
	l.eachRound = func() {
		for _, pod := range l.pods(map[string]string{"a": "b"}) {
			met = true
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
			l.writeStatus(&pod)
		}
	}
	run := l.untilRun(v1alpha1.RunSucceeded)
	if !met || len(run.Status.Faults) != 1 {
		t.Fatalf("faults %+v", run.Status.Faults)
	}
	fault := run.Status.Faults[0]
	if fault.Resource == nil || fault.Resource.Name != run.Name+"-gateway-lost" || fault.Begin == nil || fault.Over == nil || !fault.Gone {
		t.Errorf("fault %+v", fault)
	}
	if left := l.pods(map[string]string{"a": "b"}); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name)
	}
	seen.check(t, l.namespace)
}

// Nothing is built while the kind of a fault is absent.
func TestFaultResourceIsNotServed(t *testing.T) {
	l := newLab(t, complete)
	actAsAccounts(l, complete)
	l.newAuthor(author)
	l.measureOutages()
	l.create(login(), smallExperiment(t, oneArm, withResource(`{"apiVersion":"example.org/v1","kind":"Storm","spec":{}}`)))
	l.until("a run that waits for the kind", func() bool {
		run := l.run()
		if run == nil {
			return false
		}
		condition := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionLoadsComplete)
		return condition != nil && condition.Reason == v1alpha1.ReasonOperatorMissing &&
			strings.Contains(condition.Message, `the cluster does not serve Storm.example.org: install the operator of fault "gateway-lost"`)
	})
	if pods := l.pods(map[string]string{v1alpha1.LabelModule: "gateway"}); len(pods) > 0 {
		t.Errorf("%s was built", pods[0].Name)
	}
}
