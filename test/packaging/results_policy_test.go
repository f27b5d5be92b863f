// SPDX-License-Identifier: Apache-2.0

package packaging_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
)

const (
	collector    = "system:serviceaccount:kube-system:generic-garbage-collector"
	importedFrom = "lab/heap 1 2026-03-02T08:00:00Z"

	runsAreMade    = "PerfLab's operator alone makes PerfRuns: apply a PerfExperiment, and it makes its runs; perflab import records runs that were measured elsewhere"
	resultsWritten = "PerfLab's operator alone writes what runs and experiments gave: leave the status as it is, and delete what should not count; perflab import records what was measured elsewhere"
	recordsStay    = "what is imported is a record of what was measured elsewhere and stays imported: restore the annotation perflab.dev/imported"
	notConvertible = "what was made here can't become an imported record: take the annotation perflab.dev/imported out again"
)

func operatorUser(namespace string) string {
	return "system:serviceaccount:" + namespace + ":perflab-operator"
}

// as returns a client of a user.
func as(t *testing.T, user string) client.Client {
	t.Helper()
	config := rest.CopyConfig(server.Config(t))
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	if parts := strings.Split(user, ":"); strings.HasPrefix(user, "system:serviceaccount:") {
		config.Impersonate.Groups = append(config.Impersonate.Groups, "system:serviceaccounts", "system:serviceaccounts:"+parts[2])
	}
	return apiserver.Client(t, config)
}

// allow grants a user rights in a namespace.
func allow(t *testing.T, admin client.Client, user, namespace string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: namespace, Name: user}
	for _, object := range []client.Object{
		&rbacv1.Role{ObjectMeta: meta, Rules: rules},
		&rbacv1.RoleBinding{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
		},
	} {
		expect.NoError(t, admin.Create(t.Context(), object))
	}
}

func makeNamespace(t *testing.T, admin client.Client, name string) {
	t.Helper()
	err := admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

const experimentText = `
apiVersion: perflab.dev/v1alpha1
kind: PerfExperiment
spec:
  system: {modules: [{name: shop, image: "example.org/shop:1"}], target: {module: shop}}
  arms: [{name: one, baseline: true}, {name: two}]
  scenarios: [{name: search, loads: [{name: search, script: {configMap: {name: script, key: search.js}}}]}]
`

const runText = `
apiVersion: perflab.dev/v1alpha1
kind: PerfRun
spec:
  experiment: heap
  planHash: 5d1c0e7b3a9f4c21
  block: 1
  position: 1
  attempt: 1
  arm: one
  seed: 7
  system: {modules: [{name: shop, image: "example.org/shop:1"}], target: {module: shop}}
  scenario: {name: search, loads: [{name: search, script: {configMap: {name: script, key: search.js}}}]}
`

// object returns a new object, imported or not.
func object(t *testing.T, text, namespace, name string, imported bool) *unstructured.Unstructured {
	t.Helper()
	made := &unstructured.Unstructured{}
	expect.NoError(t, yaml.Unmarshal([]byte(text), &made.Object))
	made.SetNamespace(namespace)
	made.SetName(name)
	if imported {
		made.SetAnnotations(map[string]string{"perflab.dev/imported": importedFrom})
	}
	return made
}

// bound waits until the API server enforces the policy in a namespace.
func bound(t *testing.T, admin client.Client, namespace string) {
	t.Helper()
	await.Until(t.Context(), t, 30*time.Second, "the policy to be enforced for runs in "+namespace, func() (bool, string) {
		err := admin.Create(t.Context(), object(t, runText, namespace, "probe", false), client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), runsAreMade), fmt.Sprint(err)
	})
}

// patch changes an object as a user, or its status.
func patch(t *testing.T, user client.Client, of *unstructured.Unstructured, change, subresource string) error {
	t.Helper()
	if subresource != "" {
		return user.SubResource(subresource).Patch(t.Context(), of.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(change)))
	}
	return user.Patch(t.Context(), of.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(change)))
}

func expectAnswer(t *testing.T, what string, err error, sentence string) {
	t.Helper()
	switch {
	case sentence == "" && err != nil:
		t.Errorf("%s is refused: %v", what, err)
	case sentence != "" && (err == nil || !strings.Contains(err.Error(), sentence)):
		t.Errorf("%s: %v, want %q", what, err, sentence)
	}
}

func TestResultsCannotBeForged(t *testing.T) {
	admin := administrator(t)
	// No server answers the webhook here.
	install(t, home, loadChart(t), values{"webhook": values{"enabled": false}, "fence": values{"enabled": false}})
	t.Cleanup(func() { uninstall(t, home) })
	makeNamespace(t, admin, "lab")
	everything := rbacv1.PolicyRule{APIGroups: []string{"perflab.dev"}, Resources: []string{"*"}, Verbs: []string{"*"}}
	allow(t, admin, "ada", "lab", everything)
	allow(t, admin, "importer", "lab",
		rbacv1.PolicyRule{APIGroups: []string{"perflab.dev"}, Resources: []string{"perfexperiments"}, Verbs: []string{"get", "create", "delete"}},
		rbacv1.PolicyRule{APIGroups: []string{"perflab.dev"}, Resources: []string{"perfruns"}, Verbs: []string{"list", "create"}},
		rbacv1.PolicyRule{APIGroups: []string{"perflab.dev"}, Resources: []string{"perfexperiments/status", "perfruns/status"}, Verbs: []string{"update"}},
	)
	// The operator has more rights than its role, so that only the policy rejects the write.
	allow(t, admin, operatorUser(home), "lab", everything)
	bound(t, admin, "lab")
	operator, person, importer := as(t, operatorUser(home)), as(t, "ada"), as(t, "importer")

	for name, forger := range map[string]client.Client{"a person": person, "an administrator": admin, "the importer": importer, "an operator elsewhere": as(t, operatorUser("lab"))} {
		if name == "an operator elsewhere" {
			allow(t, admin, operatorUser("lab"), "lab", everything)
		}
		expectAnswer(t, name+" makes a run", forger.Create(t.Context(), object(t, runText, "lab", "forged", false)), runsAreMade)
	}
	run, experiment := object(t, runText, "lab", "heap-1", false), object(t, experimentText, "lab", "heap", false)
	expectAnswer(t, "the operator makes a run", operator.Create(t.Context(), run), "")
	expectAnswer(t, "a person makes an experiment", person.Create(t.Context(), experiment), "")
	for _, of := range []*unstructured.Unstructured{run, experiment} {
		checkForged(t, of, operator, map[string]client.Client{"a person": person, "an administrator": admin})
	}
	for _, record := range []*unstructured.Unstructured{object(t, experimentText, "lab", "record", true), object(t, runText, "lab", "record-1", true)} {
		checkRecord(t, record, importer, admin)
	}
	checkClaim(t, experiment, operator, map[string]client.Client{"a person": person, "an administrator": admin})
	checkDeletion(t, operator, map[string]client.Client{"a person": person, "an administrator": admin})
	for _, of := range []*unstructured.Unstructured{run, experiment, object(t, runText, "lab", "record-1", true)} {
		expectAnswer(t, "a person deletes "+of.GetName(), person.Delete(t.Context(), of), "")
	}
}

// checkClaim checks that an operator claims an experiment, and that others can only remove the
// claim.
func checkClaim(t *testing.T, experiment *unstructured.Unstructured, operator client.Client, others map[string]client.Client) {
	t.Helper()
	const (
		claims  = `{"metadata":{"annotations":{"perflab.dev/operator":"nowhere"}}}`
		refusal = "an operator alone writes the annotation perflab.dev/operator"
	)
	for name, other := range others {
		expectAnswer(t, name+" claims it", patch(t, other, experiment, claims, ""), refusal)
		expectAnswer(t, "the operator claims it", patch(t, operator, experiment, `{"metadata":{"annotations":{"perflab.dev/operator":"here"}}}`, ""), "")
		expectAnswer(t, name+" gives it to another", patch(t, other, experiment, claims, ""), refusal)
		expectAnswer(t, name+" labels it", patch(t, other, experiment, `{"metadata":{"labels":{"team":"storage"}}}`, ""), "")
		expectAnswer(t, name+" hands it on", patch(t, other, experiment, `{"metadata":{"annotations":{"perflab.dev/operator":null}}}`, ""), "")
		made := object(t, experimentText, "lab", "claimed", false)
		made.SetAnnotations(map[string]string{"perflab.dev/operator": "nowhere"})
		expectAnswer(t, name+" makes one with a claim", other.Create(t.Context(), made, client.DryRunAll), refusal)
	}
}

// checkDeletion checks that a user who deletes a finished run must give a reason, and that the
// garbage collector need not.
func checkDeletion(t *testing.T, operator client.Client, others map[string]client.Client) {
	t.Helper()
	const why = "kubectl annotate perfrun heap-2 -n lab perflab.dev/deletion-reason='WHY'"
	ended := object(t, runText, "lab", "heap-2", false)
	expectAnswer(t, "the operator makes a run", operator.Create(t.Context(), ended), "")
	gone := func(who client.Client) error { return who.Delete(t.Context(), ended.DeepCopy(), client.DryRunAll) }
	for name, other := range others {
		expectAnswer(t, name+" deletes one that has not ended", gone(other), "")
	}
	for _, phase := range []string{"Succeeded", "Invalid"} {
		expectAnswer(t, "the operator ends it", patch(t, operator, ended, `{"status":{"phase":"`+phase+`"}}`, "status"), "")
		for name, other := range others {
			expectAnswer(t, name+" deletes it", gone(other), why)
			expectAnswer(t, name+" deletes all", other.DeleteAllOf(t.Context(), ended.DeepCopy(), client.InNamespace("lab"), client.DryRunAll), why)
			expectAnswer(t, name+" gives no reason", patch(t, other, ended, `{"metadata":{"annotations":{"perflab.dev/deletion-reason":" "}}}`, ""), "")
			expectAnswer(t, name+" deletes it without a word", gone(other), why)
			expectAnswer(t, name+" gives a reason", patch(t, other, ended, `{"metadata":{"annotations":{"perflab.dev/deletion-reason":"the network was down"}}}`, ""), "")
			expectAnswer(t, name+" deletes it with a reason", gone(other), "")
			expectAnswer(t, name+" removes the reason", patch(t, other, ended, `{"metadata":{"annotations":{"perflab.dev/deletion-reason":null}}}`, ""), "")
		}
	}
	// The garbage collector deletes objects without an owner, without a reason.
	const orphaned = `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"gone","uid":"1"}]}}`
	for name, other := range others {
		expectAnswer(t, name+" gives it to another owner", patch(t, other, ended, orphaned, ""), "a run belongs to its experiment: leave its ownerReferences as they are")
	}
	expectAnswer(t, "the garbage collector removes its owners", patch(t, as(t, collector), ended, orphaned, ""), "")
	for _, user := range []string{operatorUser(home), collector, "system:serviceaccount:kube-system:namespace-controller"} {
		expectAnswer(t, user+" deletes it", gone(as(t, user)), "")
	}
}

// checkForged checks that only the operator writes results, and that others can write the rest.
func checkForged(t *testing.T, of *unstructured.Unstructured, operator client.Client, others map[string]client.Client) {
	t.Helper()
	expectAnswer(t, "the operator writes the status of "+of.GetKind(), patch(t, operator, of, `{"status":{"phase":"Pending"}}`, "status"), "")
	for name, other := range others {
		what := name + " and " + of.GetKind() + ": "
		expectAnswer(t, what+"status", patch(t, other, of, `{"status":{"phase":"Complete"}}`, "status"), resultsWritten)
		expectAnswer(t, what+"no status", patch(t, other, of, `{"status":null}`, "status"), resultsWritten)
		expectAnswer(t, what+"status and annotation", patch(t, other, of, `{"metadata":{"annotations":{"perflab.dev/imported":""}},"status":{"phase":"Running"}}`, "status"), "PerfLab's operator alone")
		expectAnswer(t, what+"annotation", patch(t, other, of, `{"metadata":{"annotations":{"perflab.dev/imported":""}}}`, ""), notConvertible)
		expectAnswer(t, what+"label", patch(t, other, of, `{"metadata":{"labels":{"argocd.argoproj.io/instance":"lab"}}}`, ""), "")
		expectAnswer(t, what+"annotation of another", patch(t, other, of, `{"metadata":{"annotations":{"argocd.argoproj.io/tracking-id":"x"}}}`, ""), "")
		expectAnswer(t, what+"the same status", patch(t, other, of, `{"status":{"phase":"Pending"}}`, "status"), "")
	}
	expectAnswer(t, "the operator marks "+of.GetKind(), patch(t, operator, of, `{"metadata":{"annotations":{"perflab.dev/imported":""}}}`, ""), notConvertible)
	expectAnswer(t, "the garbage collector and "+of.GetKind(), patch(t, as(t, collector), of, `{"metadata":{"finalizers":["foregroundDeletion"]}}`, ""), "")
	expectAnswer(t, "the garbage collector and "+of.GetKind(), patch(t, as(t, collector), of, `{"metadata":{"finalizers":null}}`, ""), "")
}

// checkRecord checks that an importer writes a record as a whole, and that it stays a record.
func checkRecord(t *testing.T, record *unstructured.Unstructured, importer, admin client.Client) {
	t.Helper()
	expectAnswer(t, "importing "+record.GetKind(), importer.Create(t.Context(), record), "")
	expect.NoError(t, unstructured.SetNestedField(record.Object, "Complete", "status", "phase"))
	if record.GetKind() == "PerfRun" {
		expect.NoError(t, unstructured.SetNestedField(record.Object, "Succeeded", "status", "phase"))
	}
	expectAnswer(t, "importing the status of "+record.GetKind(), importer.Status().Update(t.Context(), record), "")
	expectAnswer(t, "no record any more", patch(t, admin, record, `{"metadata":{"annotations":null}}`, ""), recordsStay)
	expectAnswer(t, "another origin", patch(t, admin, record, `{"metadata":{"annotations":{"perflab.dev/imported":"x"}}}`, ""), recordsStay)
}

// Operators that share a cluster have one policy each, which applies only to that operator's
// namespace.
func TestPolicyPerOperatorNamespace(t *testing.T) {
	admin := administrator(t)
	for _, namespace := range []string{"team-c", "team-d"} {
		install(t, namespace, loadChart(t), values{"scope": "Namespaced", "webhook": values{"enabled": false}, "fence": values{"enabled": false}})
		t.Cleanup(func() { uninstall(t, namespace) })
	}
	makeNamespace(t, admin, "unbound")
	for _, namespace := range []string{"team-c", "team-d"} {
		bound(t, admin, namespace)
		expectAnswer(t, "its own operator", as(t, operatorUser(namespace)).Create(t.Context(), object(t, runText, namespace, "heap-1", false)), "")
	}
	expectAnswer(t, "an administrator", admin.Create(t.Context(), object(t, runText, "unbound", "heap-1", false)), "")
}
