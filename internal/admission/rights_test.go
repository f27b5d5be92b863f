// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/rules"
)

// author is a user with rights in one namespace.
type author struct {
	name, namespace string
	admin           client.Client
	client          client.Client
	told            *warnings
}

// writer returns an author who may write experiments and systems, and nothing else.
func writer(t *testing.T) *author {
	t.Helper()
	admin, _ := user(t)
	a := &author{name: "jane", namespace: apiserver.Namespace(t, admin), admin: admin, told: &warnings{}}
	config := rest.CopyConfig(server.Config(t))
	config.Impersonate = rest.ImpersonationConfig{UserName: a.name}
	config.WarningHandler = a.told
	a.client = client.WithFieldValidation(apiserver.Client(t, config), "Strict")
	for _, resource := range []string{"perfexperiments", "perfsystems", "perfschedules"} {
		for _, verb := range []string{"create", "get", "update"} {
			a.grant(t, right{verb: verb, group: "perflab.dev", resource: resource})
		}
	}
	return a
}

type right struct{ verb, group, resource, name string }

// grant grants a right and waits until it takes effect.
func (a *author) grant(t *testing.T, granted right) {
	t.Helper()
	rule := rbacv1.PolicyRule{APIGroups: []string{granted.group}, Resources: []string{granted.resource}, Verbs: []string{granted.verb}}
	if granted.name != "" {
		rule.ResourceNames = []string{granted.name}
	}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{GenerateName: "right-", Namespace: a.namespace}, Rules: []rbacv1.PolicyRule{rule}}
	expect.NoError(t, a.admin.Create(t.Context(), role), "making a role")
	a.bind(t, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name})
	a.await(t, granted)
}

func (a *author) bind(t *testing.T, role rbacv1.RoleRef) {
	t.Helper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "right-", Namespace: a.namespace}, RoleRef: role,
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: a.name}},
	}
	expect.NoError(t, a.admin.Create(t.Context(), binding), "binding a role")
}

// await waits until the API server has read the new role.
func (a *author) await(t *testing.T, granted right) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		review := &authorizationv1.LocalSubjectAccessReview{
			ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace},
			Spec: authorizationv1.SubjectAccessReviewSpec{User: a.name, ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: a.namespace, Verb: granted.verb, Group: granted.group, Resource: granted.resource, Name: granted.name,
			}},
		}
		err := a.admin.Create(ctx, review)
		return review.Status.Allowed, err
	})
	expect.NoError(t, err, "waiting for the right to %s %s", granted.verb, granted.resource)
}

// ask creates the object as the author in a dry run.
func (a *author) ask(object *unstructured.Unstructured) error {
	object.SetNamespace(a.namespace)
	return a.client.Create(context.Background(), object, client.DryRunAll)
}

// message returns the expected message for a lacking right.
func (a *author) message(what string) string {
	return fmt.Sprintf("user %q may not %s in namespace %q", a.name, what, a.namespace)
}

const advice = ": PerfLab uses only what the author may use: ask for the right, or have someone who has it apply the experiment"

// secretVariable is a variable from the Secret "token".
const secretVariable = "{name: TOKEN, valueFrom: {secretKeyRef: {name: token, key: k}}}"

// inPods returns a patch of the modules' pods.
func inPods(spec string) string {
	return "[{kind: Deployment, merge: {spec: {template: {spec: " + spec + "}}}}]"
}

// reaching are experiments with references: the message while their author lacks a right,
// and the rights with which they are accepted.
var reaching = map[string]struct {
	changes []change
	place   string
	lacks   string
	rights  []right
}{
	"the target's login": {
		nil, "spec.system.target.credentialsSecret", `get Secret "login"`, nil,
	},
	"a borrowed workload": {
		[]change{{"spec.system.modules.0", "{name: gateway, workloadRef: {name: okapi}}"}},
		"spec.system.modules[0].workloadRef", `patch Deployment "okapi"`,
		[]right{{"patch", "apps", "deployments", "okapi"}},
	},
	"a borrowed StatefulSet": {
		[]change{{"spec.system.modules.0", "{name: gateway, workloadRef: {kind: StatefulSet, name: okapi}}"}},
		"spec.system.modules[0].workloadRef", `patch StatefulSet "okapi"`,
		[]right{{"patch", "apps", "statefulsets", "okapi"}},
	},
	"an arm's variable": {
		[]change{{set, "{modules: [{name: gateway, env: [" + secretVariable + "]}]}"}},
		aSet + ".modules[0].env[0].valueFrom.secretKeyRef", `get Secret "token"`,
		[]right{{"get", "", "secrets", "token"}},
	},
	"a level's variable": {
		[]change{{"spec.arms", ""}, {"spec.matrix", "{factors: [{name: f, levels: [{name: a}, {name: b, set: {modules: [{name: gateway, env: [" + secretVariable + "]}]}}]}]}"}},
		"spec.matrix.factors[0].levels[1].set.modules[0].env[0].valueFrom.secretKeyRef", `get Secret "token"`,
		[]right{{"get", "", "secrets", "token"}},
	},
	"a ConfigMap": {
		[]change{{module + ".volumes", "[{name: c, mountPath: /c, configMap: {name: conf}}]"}},
		aModule + ".volumes[0].configMap", `get ConfigMap "conf"`,
		[]right{{"get", "", "configmaps", "conf"}},
	},
	"a note": {
		[]change{{"spec.notes", "[{name: cpu, section: Resources, configMap: {name: findings, key: cpu.md}}]"}},
		"spec.notes[0].configMap", `get ConfigMap "findings"`,
		[]right{{"get", "", "configmaps", "findings"}},
	},
	"a claim": {
		[]change{{module + ".volumes", "[{name: c, mountPath: /c, persistentVolumeClaim: {claimName: data}}]"}},
		aModule + ".volumes[0].persistentVolumeClaim", "create pods",
		[]right{{"create", "", "pods", ""}},
	},
	"Prometheus' token": {
		[]change{{"spec.measurement.prometheus", `{url: "http://p:9090", tokenSecret: {name: token}}`}},
		"spec.measurement.prometheus.tokenSecret", `get Secret "token"`,
		[]right{{"get", "", "secrets", "token"}},
	},
	"a privileged container": {
		[]change{{"spec.system.patches", inPods("{containers: [{name: gateway, image: a, securityContext: {privileged: true}}]}")}},
		"spec.system.patches[0].merge.spec.template.spec.containers", "create pods",
		[]right{{"create", "", "pods", ""}},
	},
	"an arm's privileged container": {
		[]change{{set, "{patches: " + inPods("{containers: [{name: gateway, image: a, securityContext: {privileged: true}}]}") + "}"}},
		aSet + ".patches[0].merge.spec.template.spec.containers", "create pods",
		[]right{{"create", "", "pods", ""}},
	},
	"no security": {
		[]change{{"spec.system.patches", inPods("{securityContext: null}")}},
		"spec.system.patches[0].merge.spec.template.spec.securityContext", "create pods",
		[]right{{"create", "", "pods", ""}},
	},
	"no template": {
		[]change{{"spec.system.patches", "[{kind: Deployment, merge: {spec: {template: null}}}]"}},
		"spec.system.patches[0].merge.spec.template", "create pods",
		[]right{{"create", "", "pods", ""}},
	},
	"a host path": {
		[]change{{"spec.system.patches", inPods("{volumes: [{name: root, hostPath: {path: /}}]}")}},
		"spec.system.patches[0].merge.spec.template.spec.volumes[0].hostPath", "create pods",
		[]right{{"create", "", "pods", ""}},
	},
	"the host's network": {
		[]change{{"spec.system.patches", inPods("{hostNetwork: true}")}},
		"spec.system.patches[0].merge.spec.template.spec.hostNetwork", "create pods",
		[]right{{"create", "", "pods", ""}},
	},
	"the host's processes": {
		[]change{{"spec.system.patches", inPods("{hostPID: true}")}},
		"spec.system.patches[0].merge.spec.template.spec.hostPID", "create pods",
		[]right{{"create", "", "pods", ""}},
	},
	"another account": {
		[]change{{"spec.system.patches", inPods("{serviceAccountName: admin}")}},
		"spec.system.patches[0].merge.spec.template.spec.serviceAccountName", `impersonate ServiceAccount "admin"`,
		[]right{{"create", "", "pods", ""}, {"impersonate", "", "serviceaccounts", "admin"}},
	},
	"a patch's Secret": {
		[]change{{"spec.system.patches", inPods("{volumes: [{name: s, secret: {secretName: token}}]}")}},
		"spec.system.patches[0].merge.spec.template.spec.volumes[0].secret.secretName", `get Secret "token"`,
		[]right{{"get", "", "secrets", "token"}},
	},
	"Kafka's pods": {
		[]change{{"spec.system.patches", "[{kind: Kafka, merge: {spec: {kafka: {template: {pod: {securityContext: {runAsUser: 0}}}}}}}]"}},
		"spec.system.patches[0].merge.spec.kafka.template", "create pods",
		[]right{{"create", "", "pods", ""}},
	},
	"a database's Secret": {
		[]change{{"spec.system.patches", "[{kind: Cluster, merge: {spec: {superuserSecret: {name: token}}}}]"}},
		"spec.system.patches[0].merge.spec.superuserSecret.name", `get Secret "token"`,
		[]right{{"get", "", "secrets", "token"}},
	},
	"a Service": {
		[]change{{"spec.system.patches", "[{kind: Service, merge: {spec: {type: LoadBalancer}}}]"}},
		"spec.system.patches[0].merge", "create services",
		[]right{{"create", "", "services", ""}},
	},
}

func TestExperimentAuthorsNeedRights(t *testing.T) {
	server.Config(t)
	for name, c := range reaching {
		t.Run(name, func(t *testing.T) {
			a := writer(t)
			object := func() *unstructured.Unstructured {
				made := rules.Object(t, valid)
				apply(t, made, c.changes)
				return made
			}
			rules.Verdict(t, a.ask(object()), c.place, a.message(c.lacks))
			rules.Verdict(t, a.ask(object()), c.place, advice)
			for _, granted := range append([]right{{"get", "", "secrets", "login"}}, c.rights...) {
				a.grant(t, granted)
			}
			rules.Verdict(t, a.ask(object()), "", "")
		})
	}
}

// A right on another object, or in another namespace, does not suffice.
func TestRightsAreExact(t *testing.T) {
	a, elsewhere := writer(t), writer(t)
	a.grant(t, right{"get", "", "secrets", "other"})
	a.grant(t, right{"list", "", "secrets", ""})
	elsewhere.grant(t, right{"get", "", "secrets", ""})
	rules.Verdict(t, a.ask(rules.Object(t, valid)), "spec.system.target.credentialsSecret", a.message(`get Secret "login"`))
	rules.Verdict(t, elsewhere.ask(rules.Object(t, valid)), "", "")
}

// A status in a new object is ignored: only the operator marks an experiment as started.
func TestUsersCannotWriteStatus(t *testing.T) {
	a, object := writer(t), rules.Object(t, valid)
	apply(t, object, []change{{"status", `{startTime: "2026-03-01T12:00:00Z", phase: Running}`}})
	rules.Verdict(t, a.ask(object), "spec.system.target.credentialsSecret", a.message(`get Secret "login"`))
}

// Each right is reviewed once, and reported once if it is lacking.
func TestLackingRightsAreReportedOnce(t *testing.T) {
	a := writer(t)
	object := rules.Object(t, valid)
	apply(t, object, []change{{"spec.system.modules.0.env", "[{name: A, valueFrom: {secretKeyRef: {name: login, key: a}}}, {name: B, valueFrom: {secretKeyRef: {name: login, key: b}}}]"}})
	answer := a.ask(object)
	rules.Verdict(t, answer, "spec.system.target.credentialsSecret", a.message(`get Secret "login"`)+" (other fields that need it: 2)")
	if count := strings.Count(answer.Error(), "may not"); count != 1 {
		t.Errorf("said %d times: %v", count, answer)
	}
}

func TestSystemAuthorsNeedRights(t *testing.T) {
	a := writer(t)
	rules.Verdict(t, a.ask(shared(t)), "spec.target.credentialsSecret", a.message(`get Secret "login"`)+": PerfLab uses only what the author may use: ask for the right, or have someone who has it apply the system")
	a.grant(t, right{"get", "", "secrets", "login"})
	rules.Verdict(t, a.ask(shared(t)), "", "")
}

// Authors need the rights of the system they refer to: an arm's image can read its Secrets.
func TestExperimentAuthorsNeedSystemRights(t *testing.T) {
	a := writer(t)
	object := func() *unstructured.Unstructured {
		made := rules.Object(t, valid)
		apply(t, made, []change{{"spec.system", ""}, {"spec.systemRef", "{name: folio}"}, {set, `{modules: [{name: gateway, image: "mine:1"}]}`}})
		return made
	}
	rules.Verdict(t, a.ask(object()), "", "")
	system := shared(t)
	system.SetNamespace(a.namespace)
	expect.NoError(t, a.admin.Create(t.Context(), system), "making the system")
	rules.Verdict(t, a.ask(object()), "spec.systemRef.name", `PerfSystem "folio", spec.target.credentialsSecret: `+a.message(`get Secret "login"`))
	a.grant(t, right{"get", "", "secrets", "login"})
	rules.Verdict(t, a.ask(object()), "", "")
}

// Editing an experiment before its start needs the rights for all its references. Imported,
// unchanged and started experiments need none.
func TestEditorsNeedRights(t *testing.T) {
	a := writer(t)
	stored := rules.Object(t, valid)
	stored.SetNamespace(a.namespace)
	expect.NoError(t, a.admin.Create(t.Context(), stored), "making the experiment")
	edit := func(changes ...change) error {
		edited := stored.DeepCopy()
		apply(t, edited, changes)
		return a.client.Update(t.Context(), edited, client.DryRunAll)
	}
	rules.Verdict(t, edit(change{"metadata.labels", "{team: a}"}), "", "")
	rules.Verdict(t, edit(change{"spec.suspend", "true"}), "spec.system.target.credentialsSecret", a.message(`get Secret "login"`))
	imported := rules.Object(t, valid)
	apply(t, imported, []change{{"metadata.name", "imported"}, {"metadata.annotations", `{perflab.dev/imported: "2026-03-01T12:00:00Z"}`}})
	rules.Verdict(t, a.ask(imported), "", "")
	// Pages show the notes of a record as those of any experiment.
	apply(t, imported, []change{{"spec.notes", "[{name: cpu, configMap: {name: findings, key: cpu.md}}]"}})
	rules.Verdict(t, a.ask(imported), "spec.notes[0].configMap", a.message(`get ConfigMap "findings"`))
	a.grant(t, right{"get", "", "configmaps", "findings"})
	rules.Verdict(t, a.ask(imported), "", "")

	apply(t, stored, []change{{"status", `{startTime: "2026-03-01T12:00:00Z", phase: Running}`}})
	expect.NoError(t, a.admin.Status().Update(t.Context(), stored), "writing its status")
	rules.Verdict(t, edit(change{"spec.suspend", "true"}), "", "")
	rules.Verdict(t, edit(change{"spec.system.modules.0.env", "[" + secretVariable + "]"}), "spec.system", "the experiment has started")
}

// In a started experiment, only notes can get new references. Writing a note needs the
// rights for that note, and for no other.
func TestNoteAuthorsNeedRights(t *testing.T) {
	a := writer(t)
	stored := rules.Object(t, valid)
	apply(t, stored, []change{{"spec.notes", "[{name: theirs, configMap: {name: theirs, key: k.md}}]"}})
	stored.SetNamespace(a.namespace)
	expect.NoError(t, a.admin.Create(t.Context(), stored), "making the experiment")
	apply(t, stored, []change{{"status", `{startTime: "2026-03-01T12:00:00Z", phase: Complete}`}})
	expect.NoError(t, a.admin.Status().Update(t.Context(), stored), "writing its status")
	edit := func(notes string) error {
		edited := stored.DeepCopy()
		apply(t, edited, []change{{"spec.notes", notes}})
		return a.client.Update(t.Context(), edited, client.DryRunAll)
	}
	const beside = "[{name: theirs, configMap: {name: theirs, key: k.md}}, "
	rules.Verdict(t, edit(beside+"{name: mine, text: words}]"), "", "")
	rules.Verdict(t, edit("[]"), "", "")
	rules.Verdict(t, edit("[{name: theirs, configMap: {name: theirs, key: other.md}}]"), "spec.notes[0].configMap", a.message(`get ConfigMap "theirs"`))
	const mine = beside + "{name: mine, configMap: {name: mine, key: k.md}}]"
	rules.Verdict(t, edit(mine), "spec.notes[1].configMap", a.message(`get ConfigMap "mine"`))
	a.grant(t, right{"get", "", "configmaps", "mine"})
	rules.Verdict(t, edit(mine), "", "")
}
