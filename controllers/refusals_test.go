// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
)

// notHere is the message of these tests' policies.
const notHere = "the platform team does not want it here"

// forbid installs a real admission policy that refuses one kind of write, only to the operator if its
// user is known. The returned function deletes it.
func (l *lab) forbid(operation admissionv1.OperationType, group, resource string) (allow func()) {
	l.t.Helper()
	everything := admissionv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{resource, "secrets"}}
	by := "true"
	if operation != admissionv1.Delete {
		by = fmt.Sprintf("request.options.fieldManager == %q", kube.FieldOwner)
	}
	what := fmt.Sprintf("request.resource.resource == %q && request.resource.group == %q", resource, group)
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: l.namespace},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: l.namespace}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{operation, admissionv1.Create}, Rule: everything,
				}}},
			},
			MatchConditions: []admissionv1.MatchCondition{{Name: "what", Expression: fmt.Sprintf(
				"request.name == 'probe' || (%s && %s && request.operation == %q)", what, by, operation)}},
			Validations: []admissionv1.Validation{{Expression: "false", Message: notHere}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: l.namespace},
		Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: l.namespace, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
	}
	for _, object := range []client.Object{policy, binding} {
		expect.NoError(l.t, l.admin.Create(l.t.Context(), object), "making the policy")
	}
	remove := func() {
		for _, object := range []client.Object{binding, policy} {
			expect.NoError(l.t, client.IgnoreNotFound(l.admin.Delete(l.t.Context(), object)), "deleting the policy")
		}
		l.awaitPolicy(false)
	}
	l.awaitPolicy(true)
	return remove
}

// awaitPolicy waits until the API server starts or stops enforcing the policy.
func (l *lab) awaitPolicy(on bool) {
	l.t.Helper()
	await.Until(l.t.Context(), l.t, 30*time.Second, "the API server to follow the policy", func() (bool, string) {
		probe := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "probe"}}
		err := l.admin.Create(l.t.Context(), probe, client.DryRunAll)
		return (err != nil) == on, fmt.Sprint(err)
	})
}

// writesAll makes the run write all kinds of objects.
func writesAll(e *v1alpha1.PerfExperiment) {
	oneArm(e)
	restoring(bySQL)(e)
	e.Spec.Design.Blocks = 1
	e.Spec.Deadlines.Environment = &metav1.Duration{Duration: 3 * time.Minute}
	e.Spec.Deadlines.LoadStart = &metav1.Duration{Duration: 3 * time.Minute}
	e.Spec.Validity.MaxAttempts = 1
}

// If the API server refuses a write, a condition quotes its message within half a minute, and the run
// continues once the write is allowed.
func TestRefusedWriteQuotesServer(t *testing.T) {
	for _, refused := range []struct {
		operation       admissionv1.OperationType
		group, resource string
		condition       string
		object          string
		// loaded: it is refused once the loads are running.
		loaded bool
	}{
		{admissionv1.Create, "perflab.dev", "perfruns", v1alpha1.ConditionReady, "PerfRun", false},
		{admissionv1.Update, "perflab.dev", "perfexperiments", v1alpha1.ConditionReady, "PerfExperiment", false},
		{admissionv1.Create, "", "pods", v1alpha1.ConditionImagesAvailable, "Pod", false},
		{admissionv1.Create, "kafka.strimzi.io", "kafkas", v1alpha1.ConditionKafkaReady, "Kafka", false},
		{admissionv1.Create, "kafka.strimzi.io", "kafkanodepools", v1alpha1.ConditionKafkaReady, "KafkaNodePool", false},
		{admissionv1.Create, "postgresql.cnpg.io", "clusters", v1alpha1.ConditionPostgresReady, "Cluster", false},
		{admissionv1.Create, "batch", "jobs", v1alpha1.ConditionDataRestored, "Job", false},
		{admissionv1.Create, "apps", "deployments", v1alpha1.ConditionModulesReady, "Deployment", false},
		{admissionv1.Create, "", "services", v1alpha1.ConditionModulesReady, "Service", false},
		{admissionv1.Create, "", "serviceaccounts", v1alpha1.ConditionLoadsComplete, "ServiceAccount", false},
		{admissionv1.Create, "rbac.authorization.k8s.io", "rolebindings", v1alpha1.ConditionLoadsComplete, "RoleBinding", false},
		{admissionv1.Create, "k6.io", "testruns", v1alpha1.ConditionLoadsComplete, "TestRun", false},
		{admissionv1.Update, "", "pods", v1alpha1.ConditionResultsKept, "Pod", false},
		{admissionv1.Create, "", "configmaps", v1alpha1.ConditionPostgresReady, "ConfigMap", false},
		{admissionv1.Create, "", "configmaps", v1alpha1.ConditionResultsKept, "ConfigMap", true},
	} {
		t.Run(strings.ToLower(string(refused.operation))+" "+refused.resource+" for "+refused.condition, func(t *testing.T) {
			l := newLab(t, complete)
			withCollectors(l)
			l.create(login(), script())
			allow := l.forbidFrom(refused.loaded, refused.operation, refused.group, refused.resource)
			l.until("the refusal in a condition", func() bool { return l.quotedCondition(refused.condition) != nil })
			reported := l.quotedCondition(refused.condition)
			l.expect([]metav1.Condition{*reported}, refused.condition, reported.Status, v1alpha1.ReasonRefused, refused.object, notHere)
			if waiting := l.experiment("small").Status.WaitingFor; !strings.Contains(waiting, notHere) {
				t.Errorf("the experiment waits for %q", waiting)
			}
			allow()
			l.untilPhase("small", v1alpha1.ExperimentComplete)
		})
	}
}

// forbidFrom creates the experiment, and forbids the write from the start, or once its loads are
// running.
func (l *lab) forbidFrom(loaded bool, operation admissionv1.OperationType, group, resource string) (allow func()) {
	l.t.Helper()
	if !loaded {
		allow = l.forbid(operation, group, resource)
	}
	l.create(smallExperiment(l.t, writesAll))
	if loaded {
		l.until("loads that are on", func() bool { return len(l.foreign(contract.TestRunKind)) > 0 })
		allow = l.forbid(operation, group, resource)
	}
	return allow
}

// quotedCondition is the condition of the run, or of the experiment, that quotes the policy.
func (l *lab) quotedCondition(condition string) *metav1.Condition {
	l.t.Helper()
	conditions := l.experiment("small").Status.Conditions
	if run := l.run(); run != nil {
		conditions = append(slices.Clone(run.Status.Conditions), conditions...)
	}
	at := slices.IndexFunc(conditions, func(c metav1.Condition) bool {
		return c.Type == condition && strings.Contains(c.Message, notHere)
	})
	if at < 0 {
		return nil
	}
	return &conditions[at]
}

// A write that is refused until the run's time limit makes it invalid, with the server's message.
func TestLastingRefusalEndsRun(t *testing.T) {
	for _, lasting := range []struct {
		group, resource, message string
		loaded                   bool
	}{
		{"postgresql.cnpg.io", "clusters", "the environment was not ready within 3m0s; last status of PostgreSQL", false},
		{"k6.io", "testruns", "the loads did not start within 3m0s; last status of the loads", false},
		{"", "configmaps", "the results could not be stored within 5m0s; last status of the results", true},
	} {
		t.Run(lasting.resource, func(t *testing.T) {
			l := newLab(t, complete)
			withCollectors(l)
			l.create(login(), script())
			defer l.forbidFrom(lasting.loaded, admissionv1.Create, lasting.group, lasting.resource)()
			invalid := l.untilRun(v1alpha1.RunInvalid)
			l.expect(invalid.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonDeadline, lasting.message, notHere)
		})
	}
}

// A refusal for one component does not hide that for another one in parallel.
func TestAllRefusalsAreReported(t *testing.T) {
	l := newLab(t, complete)
	theirs := unstructured.Unstructured{}
	theirs.SetGroupVersionKind(contract.KafkaKind("v1"))
	theirs.SetName("small")
	listener := map[string]any{"name": "plain", "port": int64(9092), "type": "internal", "tls": false}
	mustSet(t, &theirs, []any{listener}, "spec", "kafka", "listeners")
	kafka := l.asForeign(theirs)
	l.create(login(), kafka)
	l.forbidFrom(false, admissionv1.Create, "postgresql.cnpg.io", "clusters")
	l.until("a word about both", func() bool {
		return l.names(kafka) && l.quotedCondition(v1alpha1.ConditionPostgresReady) != nil
	})
}

// Deletions are writes as well.
func TestRefusedDeletionIsReported(t *testing.T) {
	for _, refused := range []struct{ group, resource, object string }{
		{"kafka.strimzi.io", "kafkas", "Kafka"},
		{"postgresql.cnpg.io", "clusters", "Cluster"},
		{"apps", "deployments", "Deployment"},
		{"perflab.dev", "perfruns", "PerfRun"},
	} {
		t.Run(refused.resource, func(t *testing.T) {
			l := newLab(t, complete)
			l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) { e.Spec.Cleanup.Policy = v1alpha1.CleanupRetain }))
			l.untilPhase("small", v1alpha1.ExperimentComplete)
			allow := l.forbid(admissionv1.Delete, refused.group, refused.resource)
			l.remove(l.experiment("small"))
			l.until("the refusal in a condition", func() bool { return l.quotedCondition(v1alpha1.ConditionReady) != nil })
			l.expect(l.experiment("small").Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonRefused, refused.object, notHere)
			allow()
			l.until("the end of the experiment", func() bool { return len(l.experiments()) == 0 })
		})
	}
}

// A load that can't be deleted blocks the next run: the two would affect each other.
func TestUndeletableLoadBlocksNextRun(t *testing.T) {
	l := newLab(t, complete)
	l.outside.held["cico"] = true
	l.create(login(), smallExperiment(t, oneArm, importUnderUsers))
	l.until("loads that are on", func() bool { return len(l.foreign(contract.TestRunKind)) == 2 })
	allow := l.forbid(admissionv1.Delete, "k6.io", "testruns")
	l.outside.exit[importing] = 107
	l.until("a load that can't be ended", func() bool { return l.run() != nil && strings.Contains(l.run().Status.Message, notHere) })
	l.expect(l.run().Status.Conditions, v1alpha1.ConditionLoadsComplete, metav1.ConditionFalse, v1alpha1.ReasonRefused, "TestRun", notHere)
	if l.run().Status.Phase.IsFinal() || len(l.runs()) != 1 {
		t.Errorf("the run is %s, of %d runs", l.run().Status.Phase, len(l.runs()))
	}
	allow()
	delete(l.outside.exit, importing)
	l.untilPhase("small", v1alpha1.ExperimentComplete)
}

// The server's message about a quota is quoted, too.
func TestExhaustedQuotaIsReported(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "small-quota"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/deployments.apps": resource.MustParse("0")}},
	})
	quota := &corev1.ResourceQuota{}
	expect.NoError(t, l.admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: "small-quota"}, quota))
	// Kubernetes' quota controller, which is not running here, counts the usage.
	quota.Status.Hard, quota.Status.Used = quota.Spec.Hard, quota.Spec.Hard
	l.writeStatus(quota)
	l.create(smallExperiment(t, oneArm))
	l.until("a quota in a condition", func() bool {
		found := meta.FindStatusCondition(l.experiment("small").Status.Conditions, v1alpha1.ConditionModulesReady)
		return found != nil && found.Reason == v1alpha1.ReasonRefused
	})
	l.expect(l.run().Status.Conditions, v1alpha1.ConditionModulesReady, metav1.ConditionFalse, v1alpha1.ReasonRefused, "exceeded quota: small-quota")
}
