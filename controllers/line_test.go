// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"perflab.dev/perflab/api/v1alpha1"
)

// line is the connection over which the operator writes. It notes every write
// and can be cut before or after one, as when the operator is killed.
type line struct {
	// journal holds every write that took effect: "delete Kafka lab".
	journal []string
	// effects counts them.
	effects int
	// fate decides over the nth write, from 1; nil: all pass.
	fate   func(n int) fate
	writes int
	// old is a run as a cache that is behind shows it; nil: none is.
	old *v1alpha1.PerfRun
	// before is called before each write that is let through; nil: nobody is.
	before func(verb string, object any)
	// cut says that a write was lost since it was last set back.
	cut bool
}

type fate int

const (
	// passes: the write takes effect and is answered.
	passes fate = iota
	// lost: it never arrives.
	lost
	// unanswered: it takes effect, but the operator never hears of it.
	unanswered
)

var errCut = errors.New("the line was cut")

// write does what the line's fate says.
func (l *line) write(verb string, object any, do func() error) error {
	l.writes++
	decided := passes
	if l.fate != nil {
		decided = l.fate(l.writes)
	}
	if decided == lost {
		l.cut = true
		return errCut
	}
	if l.before != nil {
		l.before(verb, object)
	}
	if err := do(); err != nil {
		return err
	}
	l.effects++
	l.journal = append(l.journal, verb+" "+describe(object))
	if decided == unanswered {
		l.cut = true
		return errCut
	}
	return nil
}

func describe(object any) string {
	type named interface{ GetName() string }
	type kinded interface{ GetKind() string }
	name := ""
	if n, ok := object.(named); ok {
		name = n.GetName()
	}
	if k, ok := object.(kinded); ok {
		return k.GetKind() + " " + name
	}
	return fmt.Sprintf("%T %s", object, name)
}

// to is a client whose writes go over the line.
func (l *line) to(c client.WithWatch) client.Client {
	return interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if run, ok := object.(*v1alpha1.PerfRun); ok && l.old != nil && l.old.Name == key.Name {
				l.old.DeepCopyInto(run)
				return nil
			}
			return c.Get(ctx, key, object, options...)
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			return l.write("create", object, func() error { return c.Create(ctx, object, options...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			return l.write("delete", object, func() error { return c.Delete(ctx, object, options...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			return l.write("update", object, func() error { return c.Update(ctx, object, options...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			return l.write("patch", object, func() error { return c.Patch(ctx, object, patch, options...) })
		},
		Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			return l.write("apply", object, func() error { return c.Apply(ctx, object, options...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, part string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			return l.write("patch "+part+" of", object, func() error { return c.SubResource(part).Patch(ctx, object, patch, options...) })
		},
	})
}
