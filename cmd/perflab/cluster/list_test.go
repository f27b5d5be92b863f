// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"perflab.dev/perflab/internal/testing/apiserver"
)

func TestQueueForbidden(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"forbidden":     {apierrors.NewForbidden(schema.GroupResource{Resource: "perfexperiments"}, "", errors.New("no")), "with --namespace"},
		"not installed": {&meta.NoKindMatchError{}, "kubectl perflab doctor"},
	} {
		t.Run(name, func(t *testing.T) {
			reader := fake.NewClientBuilder().WithScheme(apiserver.Scheme()).WithInterceptorFuncs(interceptor.Funcs{
				List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
					return test.err
				},
			}).Build()
			if _, err := ListExperiments(t.Context(), reader, ""); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q in it", err, test.want)
			}
		})
	}
}
