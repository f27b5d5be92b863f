// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"strings"
	"testing"

	"perflab.dev/perflab/cmd/perflab/console"

	authorizationv1 "k8s.io/api/authorization/v1"

	corev1 "k8s.io/api/core/v1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// If the operator impersonates ServiceAccounts, the namespace needs one with rights.
func TestDoctorChecksServiceAccount(t *testing.T) {
	account := func(name string) client.Object {
		return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: name}}
	}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "localsubjectaccessreviews"}, "", nil)
	cases := map[string]struct {
		args   []string
		there  []client.Object
		denied string
		err    error
		want   string
	}{
		"another mode": {},
		"no account": {
			args: []string{"--act-as-author"},
			want: `MISSING  ServiceAccount "perflab-author" in namespace "lab": not found, but the operator impersonates it for experiments without spec.serviceAccountName: kubectl create serviceaccount perflab-author -n lab`,
		},
		"no rights": {
			args: []string{"--act-as-author"}, there: []client.Object{account("perflab-author")}, denied: "configmaps",
			want: `MISSING  ServiceAccount "perflab-author" in namespace "lab": can't patch configmaps: kubectl create rolebinding perflab-author -n lab --clusterrole=perflab-experiments --serviceaccount=lab:perflab-author`,
		},
		"no right to ask": {
			args: []string{"--act-as-author"}, there: []client.Object{account("perflab-author")}, err: forbidden,
			want: `warning  ServiceAccount "perflab-author" in namespace "lab": unknown rights: you can't create LocalSubjectAccessReviews`,
		},
		"all there": {
			args: []string{"--act-as-author", "--default-service-account=own"}, there: []client.Object{account("own")},
			want: `ok       ServiceAccount "own" in namespace "lab": has the rights`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			operator := operatorWith(1)
			operator.Spec.Template.Spec.Containers[0].Args = tc.args
			answers := interceptor.Funcs{Create: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
				review := object.(*authorizationv1.LocalSubjectAccessReview)
				review.Status.Allowed = review.Spec.ResourceAttributes.Resource != tc.denied
				return tc.err
			}}
			found := checkAccount(t.Context(), fake.NewClientBuilder().WithObjects(append(tc.there, operator)...).WithInterceptorFuncs(answers).Build(), "lab")
			switch {
			case len(found) == 0 && tc.want == "":
			case len(found) != 1 || !strings.HasPrefix(found[0].line(console.Style{}), tc.want):
				t.Errorf("%v\nwant %s …", found, tc.want)
			}
		})
	}
}
