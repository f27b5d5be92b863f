// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
)

// Accounts are the ServiceAccounts as which the operator writes the objects of experiments.
// With nil it writes as itself.
type Accounts struct {
	// Default is the name of the account for experiments that name none.
	Default string
	// Role is the ClusterRole with the permissions that accounts need, for error messages.
	Role string

	// writer sends each request as the user of its context.
	writer client.Client
}

// NewAccounts returns the accounts. The connection's own identity needs permission to
// impersonate them. The options need a scheme and a mapper, because discovery does not
// impersonate.
func NewAccounts(config *rest.Config, options client.Options, standard, role string) (*Accounts, error) {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return impersonating{next} })
	options.HTTPClient, options.Cache = nil, nil
	writer, err := client.New(config, options)
	if err != nil {
		return nil, fmt.Errorf("building the client that acts as ServiceAccounts: %w", err)
	}
	return &Accounts{Default: standard, Role: role, writer: writer}, nil
}

// impersonating sends each request as the user in its context, and rejects requests without
// one.
type impersonating struct{ http.RoundTripper }

type userKey struct{}

var errNoAccount = errors.New("no ServiceAccount is set for the write")

func (i impersonating) RoundTrip(request *http.Request) (*http.Response, error) {
	user, _ := request.Context().Value(userKey{}).(string)
	if user == "" {
		return nil, errNoAccount
	}
	request = request.Clone(request.Context())
	request.Header.Set(transport.ImpersonateUserHeader, user)
	return i.RoundTripper.RoundTrip(request)
}

// account is a ServiceAccount; without a name it is the default one of the namespace.
type account struct{ namespace, name string }

type accountKey struct{}

// WithAccount sets, in the context, the namespace of the experiment to write for and the
// ServiceAccount that it names, if any.
func WithAccount(ctx context.Context, namespace, serviceAccount string) context.Context {
	return context.WithValue(ctx, accountKey{}, account{namespace, serviceAccount})
}

// Client returns a client that writes as the account in the context, and reads as before.
// It writes the operator's own kinds with the operator's permissions: only the operator may
// write results, and its Leases are in its own namespace.
func (a *Accounts) Client(own client.Client) client.Client { return accountClient{own, a} }

type accountClient struct {
	client.Client
	accounts *Accounts
}

// ownGroups are the API groups of the objects that the operator writes as itself.
var ownGroups = []string{v1alpha1.GroupVersion.Group, coordinationv1.GroupName}

// write calls do with the client that is to write the object, and explains a refusal that a
// missing permission causes.
func (c accountClient) write(ctx context.Context, object any, verbs []string, do func(context.Context, client.Client) error) error {
	about, err := c.subjectFor(object)
	if err != nil {
		return err
	}
	return c.writeAs(ctx, about, verbs, do)
}

func (c accountClient) writeAs(ctx context.Context, about subject, verbs []string, do func(context.Context, client.Client) error) error {
	if slices.Contains(ownGroups, about.kind.Group) {
		return do(ctx, c.Client)
	}
	who, known := ctx.Value(accountKey{}).(account)
	switch {
	case c.accounts == nil && who.name == "":
		return do(ctx, c.Client)
	case c.accounts == nil:
		// An operator with --act-as-author was replaced by one without it.
		return missingRight("the experiment names ServiceAccount %q, but this operator does not act as ServiceAccounts: run the operator with --act-as-author, or delete the experiment", who.name)
	case !known || who.namespace != about.key.Namespace:
		return fmt.Errorf("writing %s %q: %w", about.kind.Kind, about.key, errNoAccount)
	}
	who.name = cmp.Or(who.name, c.accounts.Default)
	if err := c.checkAccountExists(ctx, who); err != nil {
		return err
	}
	ctx = context.WithValue(ctx, userKey{}, "system:serviceaccount:"+who.namespace+":"+who.name)
	return c.explainForbidden(ctx, who, about, verbs, do(ctx, c.accounts.writer))
}

// checkAccountExists rejects writes as a deleted account. The API server would accept them,
// because the bindings of a deleted account still apply.
func (c accountClient) checkAccountExists(ctx context.Context, who account) error {
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ServiceAccount"))
	err := c.Get(ctx, client.ObjectKey{Namespace: who.namespace, Name: who.name}, found)
	if apierrors.IsNotFound(err) {
		return missingRight("there is no ServiceAccount %q in namespace %q: kubectl create serviceaccount %s -n %s", who.name, who.namespace, who.name, who.namespace)
	}
	if err != nil {
		return fmt.Errorf("reading ServiceAccount %q: %w", who.name, err)
	}
	return nil
}

// explainForbidden returns the permission that the account lacks, if that is why a write is
// forbidden: policies and quotas forbid writes as well.
func (c accountClient) explainForbidden(ctx context.Context, who account, about subject, verbs []string, err error) error {
	if !apierrors.IsForbidden(err) {
		return err
	}
	resource, unknown := c.RESTMapper().RESTMapping(about.kind.GroupKind(), about.kind.Version)
	if unknown != nil {
		return err
	}
	for _, verb := range verbs {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: who.namespace, Verb: verb, Group: about.kind.Group, Resource: resource.Resource.Resource, Subresource: about.subresource, Name: about.key.Name,
			},
		}}
		switch failed := c.accounts.writer.Create(ctx, review); {
		case apierrors.IsForbidden(failed):
			return missingRight("the operator may not impersonate ServiceAccount %q in namespace %q: use the default one, or list it in actAsAuthor.serviceAccounts of the operator's chart", who.name, who.namespace)
		case failed != nil:
			return err
		case !review.Status.Allowed:
			return missingRight("ServiceAccount %q may not %s %s in namespace %q: %s",
				who.name, verb, about.resource(resource.Resource.GroupResource()), who.namespace, c.accounts.Grant(who.namespace, who.name, resource.Resource.GroupResource()))
		}
	}
	return err
}

// roleResources are the resources in [Accounts.Role]. An experiment may declare others, as faults.
var roleResources = []string{
	"clusters.postgresql.cnpg.io", "configmaps", "deployments.apps", "jobs.batch", "kafkanodepools.kafka.strimzi.io", "kafkas.kafka.strimzi.io",
	"pods", "poolers.postgresql.cnpg.io", "rolebindings.rbac.authorization.k8s.io", "serviceaccounts", "services", "statefulsets.apps",
	"testruns.k6.io", "workloads.kueue.x-k8s.io",
}

// Grant returns the commands that give a ServiceAccount its permissions for a resource.
func (a *Accounts) Grant(namespace, name string, resource schema.GroupResource) string {
	if slices.Contains(roleResources, resource.String()) {
		return fmt.Sprintf("kubectl create rolebinding %s -n %s --clusterrole=%s --serviceaccount=%s:%s", name, namespace, a.Role, namespace, name)
	}
	role := name + "-" + resource.Resource
	return fmt.Sprintf("kubectl create role %[1]s -n %[2]s --verb=create,patch,delete --resource=%[3]s && kubectl create rolebinding %[1]s -n %[2]s --role=%[1]s --serviceaccount=%[2]s:%[4]s",
		role, namespace, resource, name)
}

// MissingRight describes why the operator can't write as an account, and how to fix that.
// It is an API status.
type MissingRight struct{ status metav1.Status }

func missingRight(format string, arguments ...any) *MissingRight {
	return &MissingRight{metav1.Status{Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: fmt.Sprintf(format, arguments...)}}
}

func (l *MissingRight) Error() string { return l.status.Message }

// Status returns the API status.
func (l *MissingRight) Status() metav1.Status { return l.status }

// subject identifies the object that is written, or its subresource.
type subject struct {
	kind        schema.GroupVersionKind
	key         client.ObjectKey
	subresource string
}

// resource returns the name of the resource, as in rules of roles.
func (s subject) resource(of schema.GroupResource) string {
	if s.subresource != "" {
		of.Resource += "/" + s.subresource
	}
	return of.String()
}

// subjectFor returns the subject of a write. Applied objects are unstructured.
func (c accountClient) subjectFor(object any) (subject, error) {
	written, is := object.(client.Object)
	if !is {
		return subject{}, fmt.Errorf("writing %T: %w", object, errNoAccount)
	}
	kind, err := c.GroupVersionKindFor(written)
	return subject{kind: kind, key: client.ObjectKeyFromObject(written)}, err
}

func (c accountClient) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	return c.write(ctx, object, []string{"create"}, func(ctx context.Context, as client.Client) error { return as.Create(ctx, object, options...) })
}

func (c accountClient) Update(ctx context.Context, object client.Object, options ...client.UpdateOption) error {
	return c.write(ctx, object, []string{"update"}, func(ctx context.Context, as client.Client) error { return as.Update(ctx, object, options...) })
}

func (c accountClient) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	return c.write(ctx, object, []string{"patch"}, func(ctx context.Context, as client.Client) error { return as.Patch(ctx, object, patch, options...) })
}

// Apply also needs the permission to create, for an object that does not exist.
func (c accountClient) Apply(ctx context.Context, intent runtime.ApplyConfiguration, options ...client.ApplyOption) error {
	return c.write(ctx, intent, []string{"create", "patch"}, func(ctx context.Context, as client.Client) error { return as.Apply(ctx, intent, options...) })
}

func (c accountClient) Delete(ctx context.Context, object client.Object, options ...client.DeleteOption) error {
	return c.write(ctx, object, []string{"delete"}, func(ctx context.Context, as client.Client) error { return as.Delete(ctx, object, options...) })
}

// Status returns a writer of statuses, which patches as the account.
func (c accountClient) Status() client.SubResourceWriter { return c.SubResource("status") }

// SubResource returns a client of a subresource, which patches as the account.
func (c accountClient) SubResource(name string) client.SubResourceClient {
	return accountSubResource{c.Client.SubResource(name), c, name}
}

type accountSubResource struct {
	client.SubResourceClient
	of   accountClient
	name string
}

func (s accountSubResource) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	about, err := s.of.subjectFor(object)
	if err != nil {
		return err
	}
	about.subresource = s.name
	return s.of.writeAs(ctx, about, []string{"patch"}, func(ctx context.Context, as client.Client) error {
		return as.SubResource(s.name).Patch(ctx, object, patch, options...)
	})
}
