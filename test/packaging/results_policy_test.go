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
	recordsStay    = "what is imported is a record of what was measured elsewhere and stays one: put the annotation perflab.dev/imported back as it was"
	nothingBecomes = "what was made here can't become an imported record: take the annotation perflab.dev/imported out again"
)

func operatorOf(namespace string) string {
	return "system:serviceaccount:" + namespace + ":perflab-operator"
}

// as is a client of a user.
func as(t *testing.T, user string) client.Client {
	t.Helper()
	config := rest.CopyConfig(server.Config(t))
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	if parts := strings.Split(user, ":"); strings.HasPrefix(user, "system:serviceaccount:") {
		config.Impersonate.Groups = append(config.Impersonate.Groups, "system:serviceaccounts", "system:serviceaccounts:"+parts[2])
	}
	return apiserver.Client(t, config)
}

// allow gives a user rights in a namespace.
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

// object is a new one, of here or imported.
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

// bound waits until the API server asks the policy about a namespace.
func bound(t *testing.T, admin client.Client, namespace string) {
	t.Helper()
	await.Until(t.Context(), t, 30*time.Second, "the policy to be asked about runs in "+namespace, func() (bool, string) {
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

func answered(t *testing.T, what string, err error, sentence string) {
	t.Helper()
	switch {
	case sentence == "" && err != nil:
		t.Errorf("%s is refused: %v", what, err)
	case sentence != "" && (err == nil || !strings.Contains(err.Error(), sentence)):
		t.Errorf("%s: %v, want %q", what, err, sentence)
	}
}

func TestNobodyForgesResults(t *testing.T) {
	admin := administrator(t)
	// Nobody answers the webhook here.
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
	// More than it has, so that the policy alone is in its way.
	allow(t, admin, operatorOf(home), "lab", everything)
	bound(t, admin, "lab")
	operator, person, importer := as(t, operatorOf(home)), as(t, "ada"), as(t, "importer")

	for name, forger := range map[string]client.Client{"a person": person, "an administrator": admin, "the importer": importer, "an operator elsewhere": as(t, operatorOf("lab"))} {
		if name == "an operator elsewhere" {
			allow(t, admin, operatorOf("lab"), "lab", everything)
		}
		answered(t, name+" makes a run", forger.Create(t.Context(), object(t, runText, "lab", "forged", false)), runsAreMade)
	}
	run, experiment := object(t, runText, "lab", "heap-1", false), object(t, experimentText, "lab", "heap", false)
	answered(t, "the operator makes a run", operator.Create(t.Context(), run), "")
	answered(t, "a person makes an experiment", person.Create(t.Context(), experiment), "")
	for _, of := range []*unstructured.Unstructured{run, experiment} {
		checkForged(t, of, operator, map[string]client.Client{"a person": person, "an administrator": admin})
	}
	for _, record := range []*unstructured.Unstructured{object(t, experimentText, "lab", "record", true), object(t, runText, "lab", "record-1", true)} {
		checkRecord(t, record, importer, admin)
	}
	checkClaim(t, experiment, operator, map[string]client.Client{"a person": person, "an administrator": admin})
	checkDeletion(t, operator, map[string]client.Client{"a person": person, "an administrator": admin})
	for _, of := range []*unstructured.Unstructured{run, experiment, object(t, runText, "lab", "record-1", true)} {
		answered(t, "a person deletes "+of.GetName(), person.Delete(t.Context(), of), "")
	}
}

// checkClaim: an operator takes an experiment on, and others may only hand it on.
func checkClaim(t *testing.T, experiment *unstructured.Unstructured, operator client.Client, others map[string]client.Client) {
	t.Helper()
	const (
		claims  = `{"metadata":{"annotations":{"perflab.dev/operator":"nowhere"}}}`
		refusal = "an operator alone writes the annotation perflab.dev/operator"
	)
	for name, other := range others {
		answered(t, name+" claims it", patch(t, other, experiment, claims, ""), refusal)
		answered(t, "the operator claims it", patch(t, operator, experiment, `{"metadata":{"annotations":{"perflab.dev/operator":"here"}}}`, ""), "")
		answered(t, name+" gives it to another", patch(t, other, experiment, claims, ""), refusal)
		answered(t, name+" labels it", patch(t, other, experiment, `{"metadata":{"labels":{"team":"storage"}}}`, ""), "")
		answered(t, name+" hands it on", patch(t, other, experiment, `{"metadata":{"annotations":{"perflab.dev/operator":null}}}`, ""), "")
		made := object(t, experimentText, "lab", "claimed", false)
		made.SetAnnotations(map[string]string{"perflab.dev/operator": "nowhere"})
		answered(t, name+" makes one with a claim", other.Create(t.Context(), made, client.DryRunAll), refusal)
	}
}

// checkDeletion: who deletes a run that has ended says why; the cluster need not, which
// collects what belonged to something.
func checkDeletion(t *testing.T, operator client.Client, others map[string]client.Client) {
	t.Helper()
	const why = "kubectl annotate perfrun heap-2 -n lab perflab.dev/deletion-reason='WHY'"
	ended := object(t, runText, "lab", "heap-2", false)
	answered(t, "the operator makes a run", operator.Create(t.Context(), ended), "")
	gone := func(who client.Client) error { return who.Delete(t.Context(), ended.DeepCopy(), client.DryRunAll) }
	for name, other := range others {
		answered(t, name+" deletes one that has not ended", gone(other), "")
	}
	for _, phase := range []string{"Succeeded", "Invalid"} {
		answered(t, "the operator ends it", patch(t, operator, ended, `{"status":{"phase":"`+phase+`"}}`, "status"), "")
		for name, other := range others {
			answered(t, name+" deletes it", gone(other), why)
			answered(t, name+" deletes all", other.DeleteAllOf(t.Context(), ended.DeepCopy(), client.InNamespace("lab"), client.DryRunAll), why)
			answered(t, name+" says nothing", patch(t, other, ended, `{"metadata":{"annotations":{"perflab.dev/deletion-reason":" "}}}`, ""), "")
			answered(t, name+" deletes it without a word", gone(other), why)
			answered(t, name+" says why", patch(t, other, ended, `{"metadata":{"annotations":{"perflab.dev/deletion-reason":"the network was down"}}}`, ""), "")
			answered(t, name+" deletes it with a reason", gone(other), "")
			answered(t, name+" takes that back", patch(t, other, ended, `{"metadata":{"annotations":{"perflab.dev/deletion-reason":null}}}`, ""), "")
		}
	}
	// The cluster deletes what belongs to an owner that is gone, and asks nobody why.
	const orphaned = `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"gone","uid":"1"}]}}`
	for name, other := range others {
		answered(t, name+" gives it to another owner", patch(t, other, ended, orphaned, ""), "a run belongs to its experiment: leave its ownerReferences as they are")
	}
	answered(t, "the cluster takes owners off it", patch(t, as(t, collector), ended, orphaned, ""), "")
	for _, user := range []string{operatorOf(home), collector, "system:serviceaccount:kube-system:namespace-controller"} {
		answered(t, user+" deletes it", gone(as(t, user)), "")
	}
}

// checkForged: the operator writes what an object says of results; others what
// they please beside.
func checkForged(t *testing.T, of *unstructured.Unstructured, operator client.Client, others map[string]client.Client) {
	t.Helper()
	answered(t, "the operator writes the status of "+of.GetKind(), patch(t, operator, of, `{"status":{"phase":"Pending"}}`, "status"), "")
	for name, other := range others {
		what := name + " and " + of.GetKind() + ": "
		answered(t, what+"status", patch(t, other, of, `{"status":{"phase":"Complete"}}`, "status"), resultsWritten)
		answered(t, what+"no status", patch(t, other, of, `{"status":null}`, "status"), resultsWritten)
		answered(t, what+"status and annotation", patch(t, other, of, `{"metadata":{"annotations":{"perflab.dev/imported":""}},"status":{"phase":"Running"}}`, "status"), "PerfLab's operator alone")
		answered(t, what+"annotation", patch(t, other, of, `{"metadata":{"annotations":{"perflab.dev/imported":""}}}`, ""), nothingBecomes)
		answered(t, what+"label", patch(t, other, of, `{"metadata":{"labels":{"argocd.argoproj.io/instance":"lab"}}}`, ""), "")
		answered(t, what+"annotation of another", patch(t, other, of, `{"metadata":{"annotations":{"argocd.argoproj.io/tracking-id":"x"}}}`, ""), "")
		answered(t, what+"the same status", patch(t, other, of, `{"status":{"phase":"Pending"}}`, "status"), "")
	}
	answered(t, "the operator marks "+of.GetKind(), patch(t, operator, of, `{"metadata":{"annotations":{"perflab.dev/imported":""}}}`, ""), nothingBecomes)
	answered(t, "the garbage collector and "+of.GetKind(), patch(t, as(t, collector), of, `{"metadata":{"finalizers":["foregroundDeletion"]}}`, ""), "")
	answered(t, "the garbage collector and "+of.GetKind(), patch(t, as(t, collector), of, `{"metadata":{"finalizers":null}}`, ""), "")
}

// checkRecord: who may import writes a record as a whole, and it stays one.
func checkRecord(t *testing.T, record *unstructured.Unstructured, importer, admin client.Client) {
	t.Helper()
	answered(t, "importing "+record.GetKind(), importer.Create(t.Context(), record), "")
	expect.NoError(t, unstructured.SetNestedField(record.Object, "Complete", "status", "phase"))
	if record.GetKind() == "PerfRun" {
		expect.NoError(t, unstructured.SetNestedField(record.Object, "Succeeded", "status", "phase"))
	}
	answered(t, "importing the status of "+record.GetKind(), importer.Status().Update(t.Context(), record), "")
	answered(t, "no record any more", patch(t, admin, record, `{"metadata":{"annotations":null}}`, ""), recordsStay)
	answered(t, "another origin", patch(t, admin, record, `{"metadata":{"annotations":{"perflab.dev/imported":"x"}}}`, ""), recordsStay)
}

// Operators that share a cluster have a policy each, and none speaks of
// another's namespace, or of those that are nobody's.
func TestEachOperatorAnswersForItsNamespace(t *testing.T) {
	admin := administrator(t)
	for _, namespace := range []string{"team-c", "team-d"} {
		install(t, namespace, loadChart(t), values{"scope": "Namespaced", "webhook": values{"enabled": false}, "fence": values{"enabled": false}})
		t.Cleanup(func() { uninstall(t, namespace) })
	}
	makeNamespace(t, admin, "nobodys")
	for _, namespace := range []string{"team-c", "team-d"} {
		bound(t, admin, namespace)
		answered(t, "its own operator", as(t, operatorOf(namespace)).Create(t.Context(), object(t, runText, namespace, "heap-1", false)), "")
	}
	answered(t, "an administrator", admin.Create(t.Context(), object(t, runText, "nobodys", "heap-1", false)), "")
}
