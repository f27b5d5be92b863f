// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
)

// author is the default account of experiments, with the role binding of
// config/act-as-author.
const (
	author    = "perflab-author"
	boundRole = "perflab-experiments"
)

// actors are servers on which an operator has only the rights of config/act-as-author; the
// value is its token.
var actors sync.Map

// actorOn installs that operator on a server, once.
func actorOn(t *testing.T, server *apiserver.Server) string {
	t.Helper()
	install, _ := actors.LoadOrStore(server, sync.OnceValue(func() string { return installActor(t, apiserver.Client(t, server.Config(t))) }))
	return install.(func() string)()
}

func installActor(t *testing.T, admin client.Client) string {
	t.Helper()
	home := metav1.ObjectMeta{Name: "perflab-acting"}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "operator", Namespace: home.Name}}
	rights := apiserver.ClusterRole(t, "act-as-author", "operator.yaml")
	rights.Name = home.Name
	// Labs store tickets in their own namespaces.
	rights.Rules = append(rights.Rules, rbacv1.PolicyRule{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"*"}})
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: home, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: rights.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: home.Name, Name: account.Name}},
	}
	for _, object := range []client.Object{&corev1.Namespace{ObjectMeta: home}, account, rights, apiserver.ClusterRole(t, "act-as-author", "account.yaml"), binding} {
		expect.NoError(t, admin.Create(t.Context(), object), object.GetName())
	}
	given := &authenticationv1.TokenRequest{}
	expect.NoError(t, admin.SubResource("token").Create(t.Context(), account, given))
	return given.Status.Token
}

// writeRequest is a request that changes something.
type writeRequest struct{ user, what string }

// writes are the write requests of a lab's operator.
type writes struct {
	mutex sync.Mutex
	seen  []writeRequest
}

// record records the requests of a connection.
func (w *writes) record(next http.RoundTripper) http.RoundTripper { return recordingTransport{next, w} }

type recordingTransport struct {
	http.RoundTripper
	writes *writes
}

func (n recordingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet {
		n.writes.mutex.Lock()
		n.writes.seen = append(n.writes.seen, writeRequest{request.Header.Get("Impersonate-User"), request.Method + " " + request.URL.Path})
		n.writes.mutex.Unlock()
	}
	return n.RoundTripper.RoundTrip(request)
}

// watching adds Watch to a client that impersonates.
type watching struct {
	client.Client
	watcher client.WithWatch
}

func (w watching) Watch(ctx context.Context, list client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
	return w.watcher.Watch(ctx, list, options...)
}

// actAsAccounts makes the lab's operator write as ServiceAccounts, over a connection with only the
// rights of config/act-as-author.
func actAsAccounts(l *lab, server *apiserver.Server) *writes {
	l.t.Helper()
	seen, admin := &writes{}, server.Config(l.t)
	config := rest.AnonymousClientConfig(admin)
	config.BearerToken, config.QPS = actorOn(l.t, server), -1
	config.Wrap(seen.record)
	own := apiserver.Client(l.t, config)
	accounts, err := kube.NewAccounts(config, client.Options{Scheme: own.Scheme(), Mapper: own.RESTMapper()}, author, boundRole)
	expect.NoError(l.t, err)
	l.accounts = accounts
	l.own = readCaches[server].Client(l.uncached, watching{accounts.Client(own), own})
	return seen
}

// account creates a ServiceAccount; bind binds a role and waits until it is effective.
func (l *lab) account(name string) {
	l.t.Helper()
	err := l.admin.Create(l.t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: l.namespace}})
	if !apierrors.IsAlreadyExists(err) {
		expect.NoError(l.t, err)
	}
}

func (l *lab) bind(account, kind, role, verb, group, resource string) {
	l.t.Helper()
	l.create(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "bound-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: l.namespace, Name: account}},
	})
	review := &authorizationv1.LocalSubjectAccessReview{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace},
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               "system:serviceaccount:" + l.namespace + ":" + account,
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: l.namespace, Verb: verb, Group: group, Resource: resource},
		},
	}
	await.Until(l.t.Context(), l.t, 30*time.Second, "the binding to count", func() (bool, string) {
		asked := review.DeepCopy()
		err := l.uncached.Create(l.t.Context(), asked)
		return err == nil && asked.Status.Allowed, "it does not yet"
	})
}

// newAuthor creates an account with all required rights.
func (l *lab) newAuthor(account string) {
	l.t.Helper()
	l.account(account)
	l.bind(account, "ClusterRole", boundRole, "create", "apps", "deployments")
}

// check verifies that the operator wrote only its own kinds in its own name, and all other
// objects as the account.
func (w *writes) check(t *testing.T, namespace string) {
	t.Helper()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	impersonated := 0
	for _, one := range w.seen {
		own := strings.Contains(one.what, "/apis/perflab.dev/") || strings.Contains(one.what, "/leases")
		switch {
		case own && one.user != "":
			t.Errorf("%s was written as %s", one.what, one.user)
		case !own && one.user != "system:serviceaccount:"+namespace+":"+author:
			t.Errorf("%s was written as %q", one.what, one.user)
		case !own:
			impersonated++
		}
	}
	if impersonated == 0 {
		t.Error("nothing was written as the account")
	}
}

// All objects of an experiment, from its image checks to its cleanup, are written with the rights
// of its account: the operator has none.
func TestWritesUseAccountRights(t *testing.T) {
	for name, scene := range map[string]struct {
		stage func(*lab)
		edits []func(*v1alpha1.PerfExperiment)
	}{
		"built":         {func(l *lab) { l.create(script()) }, []func(*v1alpha1.PerfExperiment){writesAll}},
		"borrowed":      {func(l *lab) { l.install(inventory, byHelm) }, []func(*v1alpha1.PerfExperiment){borrowing("Deployment", placed()), oneArm}},
		"external":      {func(l *lab) { l.create(mskSecrets()...) }, []func(*v1alpha1.PerfExperiment){oneArm, msk}},
		"switched over": {(*lab).measureOutages, []func(*v1alpha1.PerfExperiment){oneArm, withFault, withSwitchover}},
		"in Kueue's queue, pruned": {func(*lab) {}, []func(*v1alpha1.PerfExperiment){oneArm, inKueueQueue, func(e *v1alpha1.PerfExperiment) {
			e.Spec.Retention = &v1alpha1.Retention{RawResults: &metav1.Duration{}}
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			seen := actAsAccounts(l, complete)
			withCollectors(l)
			l.newAuthor(author)
			l.create(login())
			scene.stage(l)
			l.create(smallExperiment(t, scene.edits...))
			if run := l.untilRun(v1alpha1.RunSucceeded); run.Spec.ServiceAccountName != "" {
				t.Errorf("the run names account %q", run.Spec.ServiceAccountName)
			}
			l.untilPhase("small", v1alpha1.ExperimentComplete)
			l.settle()
			l.remove(l.experiment("small"))
			l.until("the end of the experiment", func() bool { return len(l.experiments()) == 0 })
			seen.check(t, l.namespace)
		})
	}
}

// expectLacking waits until the experiment reports what is missing, and the command that fixes it.
func (l *lab) expectLacking(lacking, advice string) {
	l.t.Helper()
	l.until("word of what is lacking", func() bool { return strings.Contains(l.experiment("small").Status.WaitingFor, lacking) })
	if waiting := l.experiment("small").Status.WaitingFor; !strings.Contains(waiting, advice) {
		l.t.Errorf("the experiment waits for %q", waiting)
	}
}

// A condition reports what an account lacks, with the command that adds it, and the experiment then
// continues. Without an account, or with one without rights, no run starts.
func TestMissingAccountRightsAreReported(t *testing.T) {
	l := newLab(t, complete)
	actAsAccounts(l, complete)
	create := fmt.Sprintf("kubectl create serviceaccount %s -n %s", author, l.namespace)
	give := fmt.Sprintf("kubectl create rolebinding %s -n %s --clusterrole=%s --serviceaccount=%s:%s", author, l.namespace, boundRole, l.namespace, author)
	l.create(login(), smallExperiment(t, oneArm))
	l.expectLacking(fmt.Sprintf("there is no ServiceAccount %q in namespace %q", author, l.namespace), create)
	l.account(author)
	l.expectLacking(fmt.Sprintf("ServiceAccount %q may not create configmaps in namespace %q", author, l.namespace), give)
	l.expect(l.experiment("small").Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonRefused, give)
	if l.run() != nil {
		t.Error("a run exists")
	}
	rules := slices.DeleteFunc(apiserver.ClusterRole(t, "act-as-author", "account.yaml").Rules, func(rule rbacv1.PolicyRule) bool { return slices.Contains(rule.Resources, "deployments") })
	l.create(&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "less"}, Rules: rules})
	l.bind(author, "Role", "less", "create", "", "pods")
	l.expectLacking(fmt.Sprintf("ServiceAccount %q may not create deployments.apps in namespace %q", author, l.namespace), give)
	l.expect(l.run().Status.Conditions, v1alpha1.ConditionModulesReady, metav1.ConditionFalse, v1alpha1.ReasonRefused, give)
	l.bind(author, "ClusterRole", boundRole, "create", "apps", "deployments")
	l.untilPhase("small", v1alpha1.ExperimentComplete)
}

// A deleted experiment without its account waits, and reports why, until the account is recreated,
// so that no objects are left unnoticed.
func TestDeletionWaitsForAccount(t *testing.T) {
	l := newLab(t, complete)
	actAsAccounts(l, complete)
	l.newAuthor(author)
	l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) { e.Spec.Cleanup.Policy = v1alpha1.CleanupRetain }))
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	l.remove(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: author, Namespace: l.namespace}})
	l.remove(l.experiment("small"))
	said := func() bool {
		return strings.Contains(l.experiment("small").Status.WaitingFor, `there is no ServiceAccount "perflab-author"`)
	}
	l.until("word of the account", said)
	l.expect(l.experiment("small").Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonRefused, "kubectl create serviceaccount perflab-author")
	l.account(author)
	l.until("the end of the experiment", func() bool { return len(l.experiments()) == 0 })
}

// When a namespace is deleted, its account may be deleted first. The experiment, which the operator
// owns, is deleted with the rest.
func TestNamespaceDeletionEndsExperiment(t *testing.T) {
	l := newLab(t, complete)
	actAsAccounts(l, complete)
	l.newAuthor(author)
	l.create(login(), smallExperiment(t, oneArm))
	l.loading()
	l.remove(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: author, Namespace: l.namespace}})
	l.remove(l.experiment("small"))
	l.settle()
	l.expect(l.experiment("small").Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonRefused, "there is no ServiceAccount")
	for _, kind := range append(slices.Clone(environmentKinds), corev1.SchemeGroupVersion.WithKind("Service"), corev1.SchemeGroupVersion.WithKind("ConfigMap")) {
		for _, object := range l.foreign(kind) {
			l.remove(&object)
		}
	}
	l.until("the end of the experiment", func() bool { return len(l.experiments()) == 0 })
}

// An experiment is written as the account that it names, if the operator may impersonate it.
func TestExperimentNamesAccount(t *testing.T) {
	l := newLab(t, complete)
	seen := actAsAccounts(l, complete)
	l.newAuthor("strong")
	l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) { e.Spec.ServiceAccountName = "strong" }))
	l.until("word of the account", func() bool {
		return strings.Contains(l.experiment("small").Status.WaitingFor, `the operator may not impersonate ServiceAccount "strong"`)
	})
	if at := slices.IndexFunc(seen.seen, func(one writeRequest) bool { return strings.HasSuffix(one.user, ":"+author) }); at >= 0 {
		t.Errorf("%s was written as another account", seen.seen[at].what)
	}
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "impersonator"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, ResourceNames: []string{"strong"}, Verbs: []string{"impersonate"}}},
	}
	l.create(role, &rbacv1.RoleBinding{
		ObjectMeta: role.ObjectMeta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "perflab-acting", Name: "operator"}},
	})
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	if run := l.run(); run.Spec.ServiceAccountName != "strong" {
		t.Errorf("the run names account %q", run.Spec.ServiceAccountName)
	}
}

// An operator that impersonates no accounts refuses an experiment that names one, continues one
// without, and deletes what was built.
func TestUnsupportedAccountStalls(t *testing.T) {
	named := func(e *v1alpha1.PerfExperiment) { e.Spec.ServiceAccountName = author }
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm, named))
	l.settle()
	stalled := l.experiment("small")
	l.expect(stalled.Status.Conditions, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonInvalidSpec, "spec.serviceAccountName: this operator writes with its own permissions")
	l.remove(stalled)
	l.until("the end of the experiment", func() bool { return len(l.experiments()) == 0 })

	plain := l.own
	actAsAccounts(l, complete)
	l.newAuthor(author)
	l.create(smallExperiment(t, oneArm, named))
	l.until("a run that is being built", func() bool { return len(l.pods(nil)) > 0 })
	l.accounts, l.own = nil, readCaches[complete].Client(l.uncached, watching{(*kube.Accounts)(nil).Client(installOn(t, complete).client), plain})
	l.until("word of the account", func() bool {
		return strings.Contains(l.experiment("small").Status.WaitingFor, `the experiment names ServiceAccount "perflab-author", but this operator does not act as ServiceAccounts`)
	})
	l.remove(l.experiment("small"))
	l.until("the end of the experiment", func() bool { return len(l.experiments()) == 0 })
}
