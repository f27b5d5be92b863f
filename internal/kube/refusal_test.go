// SPDX-License-Identifier: Apache-2.0

package kube_test

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestIsInvalidStatus(t *testing.T) {
	invalid := func(at ...string) error {
		return apierrors.NewInvalid(schema.GroupKind{Kind: "PerfRun"}, "a", field.ErrorList{field.TooMany(field.NewPath(at[0], at[1:]...), 2, 1)})
	}
	runs := schema.GroupResource{Resource: "perfruns"}
	for name, c := range map[string]struct {
		err                error
		isUnfit, isRefused bool
	}{
		"nothing":      {nil, false, false},
		"no answer":    {errors.New("connection refused"), false, false},
		"too many":     {invalid("status", "effective", "nodes"), true, true},
		"wrapped":      {fmt.Errorf("writing: %w", invalid("status")), true, true},
		"a policy":     {invalid("spec"), false, true},
		"too large":    {apierrors.NewRequestEntityTooLargeError("limit is 3145728"), true, true},
		"not to send":  {apierrors.NewInternalError(errors.New("rpc error: code = ResourceExhausted desc = trying to send message larger than max (2097999 vs. 2097152)")), true, false},
		"a quota":      {apierrors.NewForbidden(runs, "a", errors.New("exceeded quota")), false, true},
		"a conflict":   {apierrors.NewConflict(runs, "a", errors.New("changed")), false, false},
		"out of order": {apierrors.NewInternalError(errors.New("etcd is away")), false, false},
	} {
		expect.Equal(t, [2]bool{c.isUnfit, c.isRefused}, [2]bool{kube.IsInvalidStatus(c.err), kube.IsRefused(c.err)}, name)
	}
}
