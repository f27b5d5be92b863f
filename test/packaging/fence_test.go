// SPDX-License-Identifier: Apache-2.0

package packaging_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
)

const (
	onlyControlled = "PerfLab's operator writes only what an experiment, a run or a schedule controls, and workloads that it adopts"
	notHere        = "PerfLab's operator does not write into this namespace"
	notKubernetes  = "PerfLab's operator writes nothing into the namespaces of Kubernetes"
)

// ownedBy returns the owner reference of the operator's objects.
func ownedBy(kind string) string {
	return fmt.Sprintf("ownerReferences: [{apiVersion: perflab.dev/v1alpha1, kind: %s, name: heap, uid: 3b8f0b1e-53a1-4b65-9d2f-0a4f3a1d7c11, controller: true}]", kind)
}

const adoptedMark = "annotations: {perflab.dev/borrowed-by: heap}"

// fenced are the objects that the operator writes, by kind. META in each stands for its
// metadata.
var fenced = map[string]string{
	"ConfigMap":      "{apiVersion: v1, kind: ConfigMap, metadata: {META}}",
	"Pod":            `{apiVersion: v1, kind: Pod, metadata: {META}, spec: {containers: [{name: one, image: "example.org/one:1"}]}}`,
	"Service":        "{apiVersion: v1, kind: Service, metadata: {META}, spec: {ports: [{port: 80}]}}",
	"ServiceAccount": "{apiVersion: v1, kind: ServiceAccount, metadata: {META}}",
	"Deployment":     deploymentText("Deployment"),
	"Job":            `{apiVersion: batch/v1, kind: Job, metadata: {META}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: one, image: "example.org/one:1"}]}}}}`,
	"RoleBinding":    bindingText("ClusterRole", "perflab-collector", "lab"),
}

func deploymentText(kind string) string {
	return "{apiVersion: apps/v1, kind: " + kind + `, metadata: {META}, spec: {selector: {matchLabels: {app: one}}, template: {metadata: {labels: {app: one}}, spec: {containers: [{name: one, image: "example.org/one:1"}]}}}}`
}

func bindingText(kind, role, namespace string) string {
	return fmt.Sprintf("{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {META}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: %s, name: %s}, subjects: [{kind: ServiceAccount, name: one, namespace: %s}]}", kind, role, namespace)
}

func withMeta(t *testing.T, text, metadata, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	return object(t, strings.Replace(text, "META", metadata, 1), namespace, name, false)
}

// A stolen token of the operator can't write objects that no experiment controls, neither with the
// operator's role nor with every right.
func TestOperatorIsFenced(t *testing.T) {
	admin := administrator(t)
	install(t, home, loadChart(t), values{"webhook": values{"enabled": false}, "resultsPolicy": values{"enabled": false}, "fence": values{"namespaceLabel": "perflab.dev/enabled"}})
	t.Cleanup(func() { uninstall(t, home) })
	for _, namespace := range []string{"lab", "elsewhere"} {
		makeNamespace(t, admin, namespace)
	}
	expect.NoError(t, admin.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "everything"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: "perflab-operator", Namespace: home}},
	}))
	t.Cleanup(func() {
		expect.NoError(t, admin.Delete(context.WithoutCancel(t.Context()), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "everything"}}))
	})
	lab := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "lab"}}}
	expectAnswer(t, "a label", patch(t, admin, lab, `{"metadata":{"labels":{"perflab.dev/enabled":"true"}}}`, ""), "")
	operator := as(t, operatorUser(home))
	await.Until(t.Context(), t, 30*time.Second, "the fence", func() (bool, string) {
		err := operator.Create(t.Context(), withMeta(t, fenced["ConfigMap"], "", "kube-system", "probe"))
		return err != nil && strings.Contains(err.Error(), notKubernetes), fmt.Sprint(err)
	})
	for kind, text := range fenced {
		t.Run(kind, func(t *testing.T) { checkFenced(t, admin, operator, text) })
	}
	t.Run("adopted", func(t *testing.T) { checkAdopted(t, admin, operator) })
	t.Run("struck by faults", func(t *testing.T) { checkStruck(t, admin, operator) })
	t.Run("bindings", func(t *testing.T) {
		for name, text := range map[string]string{
			"another role":      bindingText("ClusterRole", "cluster-admin", "lab"),
			"a role of its own": bindingText("Role", "perflab-collector", "lab"),
			"from elsewhere":    bindingText("ClusterRole", "perflab-collector", "elsewhere"),
		} {
			expectAnswer(t, name, operator.Create(t.Context(), withMeta(t, text, ownedBy("PerfRun"), "lab", "bound")), "PerfLab's operator binds only the ClusterRole of collectors, to ServiceAccounts of the same namespace")
		}
	})
	t.Run("experiments", func(t *testing.T) { checkFencedExperiments(t, admin, operator) })
	t.Run("leftovers in other namespaces", func(t *testing.T) { checkCleanup(t, admin, operator) })
	t.Run("webhooks", func(t *testing.T) { checkFencedWebhooks(t, admin, operator) })
}

// checkCleanup checks that work in progress can end in a namespace where no new work may start.
func checkCleanup(t *testing.T, admin, operator client.Client) {
	t.Helper()
	experiment := withMeta(t, experimentText+"metadata: {META}\n", "finalizers: [perflab.dev/environment]", "elsewhere", "left")
	ledger := withMeta(t, fenced["ConfigMap"], ownedBy("PerfExperiment")+", finalizers: [perflab.dev/environment]", "elsewhere", "left")
	for _, left := range []*unstructured.Unstructured{experiment, ledger} {
		expect.NoError(t, admin.Create(t.Context(), left))
	}
	expectAnswer(t, "changes what is not deleted", patch(t, operator, ledger, `{"data":{"a":"b"}}`, ""), notHere)
	expectAnswer(t, "deletes what is controlled", operator.Delete(t.Context(), ledger), "")
	expect.NoError(t, admin.Delete(t.Context(), experiment))
	for _, left := range []*unstructured.Unstructured{experiment, ledger} {
		expectAnswer(t, "removes the finalizer of "+left.GetKind(), patch(t, operator, left, `{"metadata":{"finalizers":null}}`, ""), "")
	}
}

// checkFencedWebhooks checks that the operator can't change the address or the rules of a
// webhook, which would send it other users' writes.
func checkFencedWebhooks(t *testing.T, admin, operator client.Client) {
	t.Helper()
	const sentence = "PerfLab's operator changes only the certificate of its webhook"
	made := &unstructured.Unstructured{}
	expect.NoError(t, yaml.Unmarshal([]byte(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: fenced}
webhooks:
- name: one.perflab.dev
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {name: nobody, namespace: elsewhere, path: /one}}
  rules: [{apiGroups: [example.org], apiVersions: [v1], operations: [CREATE], resources: [things]}]
`), &made.Object))
	expect.NoError(t, admin.Create(t.Context(), made))
	change := func(change string) error {
		return operator.Patch(t.Context(), made.DeepCopy(), client.RawPatch(types.JSONPatchType, []byte(change)))
	}
	expectAnswer(t, "the certificate", change(`[{"op":"add","path":"/webhooks/0/clientConfig/caBundle","value":"`+base64.StdEncoding.EncodeToString(server.Config(t).CAData)+`"}]`), "")
	for name, other := range map[string]string{
		"the service": `[{"op":"replace","path":"/webhooks/0/clientConfig/service/name","value":"mine"}]`,
		"an address":  `[{"op":"remove","path":"/webhooks/0/clientConfig/service"},{"op":"add","path":"/webhooks/0/clientConfig/url","value":"https://example.org/"}]`,
		"the rules":   `[{"op":"add","path":"/webhooks/0/rules/0/resources/-","value":"secrets"}]`,
		"the policy":  `[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Ignore"}]`,
		"namespaces":  `[{"op":"replace","path":"/webhooks/0/namespaceSelector","value":{"matchLabels":{"a":"b"}}}]`,
		"objects":     `[{"op":"replace","path":"/webhooks/0/objectSelector","value":{"matchLabels":{"a":"b"}}}]`,
		"conditions":  `[{"op":"add","path":"/webhooks/0/matchConditions","value":[{"name":"never","expression":"false"}]}]`,
		"time":        `[{"op":"replace","path":"/webhooks/0/timeoutSeconds","value":1}]`,
		"all of them": `[{"op":"remove","path":"/webhooks/0"}]`,
	} {
		expectAnswer(t, name, change(other), sentence)
	}
	expectAnswer(t, "deletes it", operator.Delete(t.Context(), made), sentence)
	expect.NoError(t, admin.Delete(t.Context(), made))
}

// checkFenced checks that the operator can write only controlled objects.
func checkFenced(t *testing.T, admin, operator client.Client, text string) {
	t.Helper()
	const relabel = `{"metadata":{"labels":{"team":"storage"}}}`
	for name, refused := range map[string]struct{ metadata, namespace, sentence string }{
		"without an owner":                  {"", "lab", onlyControlled},
		"with a label":                      {"labels: {perflab.dev/experiment: heap}", "lab", onlyControlled},
		"of another owner":                  {strings.Replace(ownedBy("PerfRun"), "perflab.dev/v1alpha1", "apps/v1", 1), "lab", onlyControlled},
		"of an owner that is no controller": {strings.Replace(ownedBy("PerfRun"), ", controller: true", "", 1), "lab", onlyControlled},
		"adopted at once":                   {adoptedMark, "lab", onlyControlled},
		"without the label":                 {ownedBy("PerfRun"), "elsewhere", notHere},
		"of the cluster":                    {ownedBy("PerfRun"), "kube-system", notKubernetes},
		"of the cluster too":                {ownedBy("PerfRun"), "kube-public", notKubernetes},
	} {
		expectAnswer(t, name, operator.Create(t.Context(), withMeta(t, text, refused.metadata, refused.namespace, "forged")), refused.sentence)
	}
	for _, owner := range []string{"PerfExperiment", "PerfRun"} {
		made := withMeta(t, text, ownedBy(owner), "lab", "ours-"+strings.ToLower(owner))
		expectAnswer(t, "of "+owner, operator.Create(t.Context(), made), "")
		expectAnswer(t, "changed", patch(t, operator, made, relabel, ""), "")
		expectAnswer(t, "deleted", operator.Delete(t.Context(), made, client.GracePeriodSeconds(0)), "")
	}
	others := withMeta(t, text, "", "lab", "others")
	expect.NoError(t, admin.Create(t.Context(), others))
	expectAnswer(t, "changes another's", patch(t, operator, others, relabel, ""), onlyControlled)
	expectAnswer(t, "takes over another's object", patch(t, operator, others, `{"metadata":{"ownerReferences":[{"apiVersion":"perflab.dev/v1alpha1","kind":"PerfRun","name":"heap","uid":"x","controller":true}]}}`, ""), onlyControlled)
	expectAnswer(t, "deletes another's", operator.Delete(t.Context(), others), onlyControlled)
	expect.NoError(t, admin.Delete(t.Context(), others, client.GracePeriodSeconds(0)))
}

// checkStruck checks that the operator can delete pods of experiments' systems, regardless of
// their controller, but can't change them.
func checkStruck(t *testing.T, admin, operator client.Client) {
	t.Helper()
	const controlled = "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: heap, uid: x, controller: true}]"
	for name, tc := range map[string]struct{ metadata, namespace, sentence string }{
		"of an experiment":     {"labels: {perflab.dev/experiment: heap}, " + controlled, "lab", ""},
		"without the label":    {controlled, "lab", onlyControlled},
		"where nothing is run": {"labels: {perflab.dev/experiment: heap}, " + controlled, "elsewhere", onlyControlled},
	} {
		pod := withMeta(t, fenced["Pod"], tc.metadata, tc.namespace, "struck")
		expect.NoError(t, admin.Create(t.Context(), pod))
		expectAnswer(t, "changes one "+name, patch(t, operator, pod, `{"metadata":{"labels":{"team":"storage"}}}`, ""), map[string]string{"elsewhere": notHere, "lab": onlyControlled}[tc.namespace])
		expectAnswer(t, "kills one "+name, operator.Delete(t.Context(), pod, client.GracePeriodSeconds(0)), tc.sentence)
		if tc.sentence != "" {
			expect.NoError(t, admin.Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
		}
	}
}

// checkAdopted checks that the operator can change existing workloads while they are adopted,
// and can't delete them.
func checkAdopted(t *testing.T, admin, operator client.Client) {
	t.Helper()
	const mark, release, scale = `{"metadata":{"annotations":{"perflab.dev/borrowed-by":"heap"}},"spec":{"replicas":2}}`, `{"metadata":{"annotations":{"perflab.dev/borrowed-by":null}},"spec":{"replicas":1}}`, `{"spec":{"replicas":3}}`
	for _, kind := range []string{"Deployment", "StatefulSet"} {
		text := deploymentText(kind)
		for _, namespace := range []string{"lab", "elsewhere"} {
			others := withMeta(t, text, "", namespace, "adopted")
			expect.NoError(t, admin.Create(t.Context(), others))
			sentence := map[string]string{"elsewhere": notHere}[namespace]
			expectAnswer(t, "adopts", patch(t, operator, others, mark, ""), sentence)
			expectAnswer(t, "scales", patch(t, operator, others, scale, ""), sentence)
			// The operator still releases workloads that it adopted before the namespace was
			// closed.
			expectAnswer(t, "an administrator adopts", patch(t, admin, others, mark, ""), "")
			expectAnswer(t, "releases", patch(t, operator, others, release, ""), "")
			expectAnswer(t, "scales what it does not adopt", patch(t, operator, others, scale, ""), map[string]string{"elsewhere": notHere, "lab": onlyControlled}[namespace])
			expectAnswer(t, "adopts again", patch(t, operator, others, mark, ""), sentence)
			expectAnswer(t, "deletes", operator.Delete(t.Context(), others), onlyControlled)
			expect.NoError(t, admin.Delete(t.Context(), others))
		}
	}
}

// checkFencedExperiments checks that the operator can create only schedules' experiments, and
// can't change a spec.
func checkFencedExperiments(t *testing.T, admin, operator client.Client) {
	t.Helper()
	const onlySchedules = "PerfLab's operator creates and deletes only the experiments of schedules, and changes no spec"
	owned := func(text, owner, name string) *unstructured.Unstructured {
		return withMeta(t, text+"metadata: {META}\n", owner, "lab", name)
	}
	expectAnswer(t, "creates an experiment", operator.Create(t.Context(), owned(experimentText, "", "forged")), onlySchedules)
	scheduled := owned(experimentText, ownedBy("PerfSchedule"), "scheduled")
	expectAnswer(t, "creates one of a schedule", operator.Create(t.Context(), scheduled), "")
	expectAnswer(t, "deletes one of a schedule", operator.Delete(t.Context(), scheduled), "")
	others := owned(experimentText, "", "others")
	expect.NoError(t, admin.Create(t.Context(), others))
	expectAnswer(t, "marks one", patch(t, operator, others, `{"metadata":{"annotations":{"perflab.dev/operator":"here"}}}`, ""), "")
	expectAnswer(t, "changes a spec", patch(t, operator, others, `{"spec":{"suspend":true}}`, ""), onlySchedules)
	expectAnswer(t, "deletes one", operator.Delete(t.Context(), others), onlySchedules)
	expect.NoError(t, admin.Delete(t.Context(), others))
	expectAnswer(t, "creates a run without an owner", operator.Create(t.Context(), owned(runText, "", "forged")), "PerfLab's operator writes only the runs of experiments")
	run := owned(runText, ownedBy("PerfExperiment"), "fenced-1")
	expectAnswer(t, "creates a run", operator.Create(t.Context(), run), "")
	expectAnswer(t, "deletes a run", operator.Delete(t.Context(), run), "")
}

// unfenced are the writes of the operator outside the fence, with the reasons.
var unfenced = map[string]string{
	"events": "report, and change nothing", "localsubjectaccessreviews": "only query rights",
	"perfexperiments/status": "are read back and verified", "perfruns/status": "are those of runs, which are fenced", "perfschedules/status": "have the next start",
	"perfexperiments/finalizers": "let it own objects", "perfruns/finalizers": "let it own objects", "perfschedules/finalizers": "let it own objects",
	"clusterroles": "are bound by name alone",
	"secrets":      "are its own certificate, by name", "leases": "are in its own namespace",
	"tokenreviews": "are questions", "subjectaccessreviews": "are questions",
}

// Each right to write is fenced, or has a reason for the exception.
func TestEveryRightIsFenced(t *testing.T) {
	within := map[string]bool{}
	policy := map[string]any{}
	readYAML(t, "fence/policy.yaml", &policy)
	rules, _, err := unstructured.NestedSlice(policy, "spec", "matchConstraints", "resourceRules")
	expect.NoError(t, err)
	for _, rule := range rules {
		for _, resource := range rule.(map[string]any)["resources"].([]any) {
			within[resource.(string)] = true
		}
	}
	for _, rule := range operatorRules(t) {
		if !slices.ContainsFunc(rule.Verbs, func(verb string) bool { return !slices.Contains([]string{"get", "list", "watch"}, verb) }) {
			continue
		}
		for _, resource := range rule.Resources {
			if !within[resource] && unfenced[resource] == "" {
				t.Errorf("the operator may %s %s, which is not fenced", strings.Join(rule.Verbs, ", "), resource)
			}
		}
	}
}

// operatorRules returns the rules of all roles of the operator.
func operatorRules(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	var rules []rbacv1.PolicyRule
	for _, path := range []string{"rbac/role.yaml", "rbac/leader_election.yaml", "webhook/rbac.yaml", "metrics/rbac.yaml"} {
		text, err := os.ReadFile(apiserver.Root("config", path))
		expect.NoError(t, err)
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			role := rbacv1.ClusterRole{}
			expect.NoError(t, yaml.Unmarshal([]byte(document), &role), path)
			if role.Kind == "ClusterRole" || role.Kind == "Role" {
				rules = append(rules, role.Rules...)
			}
		}
	}
	return rules
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(apiserver.Root("config", path))
	expect.NoError(t, err)
	expect.NoError(t, yaml.Unmarshal(text, into))
}
