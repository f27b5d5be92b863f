// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"perflab.dev/perflab/api/v1alpha1"
	kubecache "perflab.dev/perflab/internal/kube/cache"
)

// line is the operator's connection to the API server. It records every write and can fail before or
// after one, as if the operator were killed.
type line struct {
	// journal lists every write that took effect: "delete Kafka lab".
	journal []string
	// effects counts them.
	effects int
	// fate decides about a write: "delete Kafka lab"; nil: all pass.
	fate func(what string) fate
	// refuse is the API server's error for a write; nil: none.
	refuse func(what string) error
	// unread is the error of a read; nil: everything can be read.
	unread func(what string) error
	// view is a stale cache; nil: the operator reads the current state.
	view *view
	// revokeLease revokes the lease of the active operator, which ends its reconcile; takeOver lets
	// the next one reconcile for a while.
	revokeLease context.CancelFunc
	takeOver    func()
	// after is called after each write that took effect; nil: nothing is.
	after func()
	// scope is the only namespace that the operator watches.
	scope string
	// hit are the kinds of writes that were hit by a fault: "apply perfruns/status".
	hit map[string]bool
	// old is a run as a stale cache shows it; nil: none.
	old *v1alpha1.PerfRun
	// before is called before each write that passes; nil: nothing is.
	before func(verb string, object any)
	// cut: a write was lost since the last reset.
	cut bool
}

type fate int

const (
	// passes: the write takes effect and is answered.
	passes fate = iota
	// lost: it never arrives.
	lost
	// unanswered: it takes effect, but the operator gets no answer.
	unanswered
	// conflicting: it fails with a conflict.
	conflicting
	// deposed: the operator loses its lease before it.
	deposed
	// overtaken: the operator loses its lease, and the write arrives after the next one has
	// reconciled for a while.
	overtaken
)

var errCut = errors.New("the line was cut")

// write applies the line's fate.
func (l *line) write(ctx context.Context, verb string, object any, do func() error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	decided, err := l.decide(verb, object)
	if err != nil {
		return err
	}
	if l.before != nil {
		l.before(verb, object)
	}
	if err := do(); err != nil {
		return err
	}
	l.effects++
	l.journal = append(l.journal, verb+" "+describe(object))
	if l.after != nil {
		l.after()
	}
	switch decided {
	case unanswered:
		return errCut
	case overtaken:
		l.revokeLease()
	default:
		// The operator gets the error.
	}
	return nil
}

// decide returns the fate of a write, and the error if it is not made.
func (l *line) decide(verb string, object any) (fate, error) {
	what := verb + " " + describe(object)
	if l.refuse != nil {
		if err := l.refuse(what); err != nil {
			l.disturb(verb, object)
			return passes, err
		}
	}
	if l.fate == nil {
		return passes, nil
	}
	decided := l.fate(what)
	if decided == passes {
		return decided, nil
	}
	l.disturb(verb, object)
	switch decided {
	case lost:
		return decided, errCut
	case conflicting:
		return decided, injected{apierrors.NewConflict(schema.GroupResource{}, describe(object), errors.New("injected conflict"))}
	case deposed:
		l.revokeLease()
		return decided, context.Canceled
	case overtaken:
		l.yield()
	default:
		// It takes effect.
	}
	return decided, nil
}

// yield lets the operator that has the lease reconcile for a while. It keeps the lease, or loses it to
// the test's operator.
func (l *line) yield() {
	decide, hangUp, cut := l.fate, l.revokeLease, l.cut
	l.fate = func(what string) fate {
		if decided := decide(what); decided != overtaken {
			return decided
		}
		return passes
	}
	l.takeOver()
	l.fate, l.revokeLease, l.cut = decide, hangUp, cut
}

// disturb records a fault.
func (l *line) disturb(verb string, object any) {
	l.cut = true
	if l.hit == nil {
		l.hit = map[string]bool{}
	}
	resource := resourceName(object)
	if verb == patchStatus {
		verb, resource = "patch", resource+"/status"
	}
	l.hit[writeVerb(verb, resource)] = true
}

// injected is an error of the API server that the line injects.
type injected struct{ *apierrors.StatusError }

func (injected) Is(target error) bool { return target == errCut }

// read returns the error of a read; nil: it can be read.
func (l *line) read(ctx context.Context, what string) error {
	if l.unread == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	err := l.unread(what)
	l.cut = l.cut || err != nil
	return err
}

// resourceName is the API server's name of this object's kind.
func resourceName(object any) string {
	kind := strings.Fields(describe(object))[0]
	return strings.ToLower(kind[strings.LastIndex(kind, ".")+1:]) + "s"
}

// patchStatus is the journal's verb for writes of a status.
const patchStatus = "patch status of"

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

func describeList(list client.ObjectList, options []client.ListOption) string {
	which := &client.ListOptions{}
	which.ApplyOptions(options)
	return fmt.Sprintf("%s %v %v", describe(list), which.LabelSelector, which.FieldSelector)
}

// pastCache reads the current state, over the line.
type pastCache struct {
	client.Reader
	line   *line
	t      *testing.T
	scheme *runtime.Scheme
}

func (p pastCache) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if err := p.line.read(ctx, fmt.Sprintf("get past the cache %s %s", describe(object), key.Name)); err != nil {
		return err
	}
	return p.Reader.Get(ctx, key, object, options...)
}

func (p pastCache) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := p.line.read(ctx, "list past the cache "+describeList(list, options)); err != nil {
		return err
	}
	p.check(list, options)
	return p.Reader.List(ctx, list, options...)
}

// unselected are the kinds of others' objects: adopted ones and their pods have no common label.
var unselected = []string{"DeploymentList", "StatefulSetList", "ReplicaSetList", "PodList"}

// check verifies that lists select some objects, in pages, and never all of them.
func (p pastCache) check(list client.ObjectList, options []client.ListOption) {
	which := (&client.ListOptions{}).ApplyOptions(options)
	selected := which.LabelSelector != nil && !which.LabelSelector.Empty() || which.FieldSelector != nil && !which.FieldSelector.Empty()
	kind, err := apiutil.GVKForObject(list, p.scheme)
	borrowed := which.Namespace != "" && slices.Contains(unselected, kind.Kind)
	if err != nil || which.Limit == 0 || !selected && !borrowed {
		p.t.Errorf("an uncached list without a selector or a limit: %s, limit %d (%v)", describeList(list, options), which.Limit, err)
	}
}

// trimRead trims a read object to what the cache would store.
func trimRead(err error, read any) error {
	switch object := read.(type) {
	case *v1alpha1.PerfExperiment:
		*object = *kubecache.StripExperiment(object)
	case *v1alpha1.PerfExperimentList:
		for i := range object.Items {
			object.Items[i] = *kubecache.StripExperiment(&object.Items[i])
		}
	case *v1alpha1.PerfRun:
		*object = *kubecache.StripRun(object)
	case *v1alpha1.PerfRunList:
		for i := range object.Items {
			object.Items[i] = *kubecache.StripRun(&object.Items[i])
		}
	case *unstructured.Unstructured:
		trimToCache(object)
	case *unstructured.UnstructuredList:
		for i := range object.Items {
			trimToCache(&object.Items[i])
		}
	}
	return err
}

// trimToCache trims an object to what the cache would store. It stores no ConfigMaps.
func trimToCache(object *unstructured.Unstructured) {
	if object.GetKind() == "ConfigMap" {
		return
	}
	if lean, err := kubecache.StripTransform()(object); err == nil {
		*object = *lean.(*unstructured.Unstructured)
	}
}

// limitToScope limits a list of all namespaces to the scope.
func (l *line) limitToScope(options []client.ListOption) []client.ListOption {
	which := &client.ListOptions{}
	which.ApplyOptions(options)
	if which.Namespace != "" {
		return options
	}
	return append(slices.Clone(options), client.InNamespace(l.scope))
}

// to is a client whose reads and writes use the line.
func (l *line) to(c client.WithWatch) client.Client {
	return interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if run, ok := object.(*v1alpha1.PerfRun); ok && l.old != nil && l.old.Name == key.Name {
				l.old.DeepCopyInto(run)
				return nil
			}
			if err := l.read(ctx, fmt.Sprintf("get %s %s", describe(object), key.Name)); err != nil {
				return err
			}
			if l.view.holds(object) {
				return trimRead(l.view.get(ctx, key, object), object)
			}
			return trimRead(c.Get(ctx, key, object, options...), object)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if err := l.read(ctx, "list "+describeList(list, options)); err != nil {
				return err
			}
			options = l.limitToScope(options)
			if l.view.holds(list) {
				return trimRead(l.view.list(ctx, list, options...), list)
			}
			return trimRead(c.List(ctx, list, options...), list)
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			return l.write(ctx, "create", object, func() error { return c.Create(ctx, object, options...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			return l.write(ctx, "delete", object, func() error { return c.Delete(ctx, object, options...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			return l.write(ctx, "update", object, func() error { return c.Update(ctx, object, options...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if slices.Contains(options, client.PatchOption(client.DryRunAll)) {
				// It has no effect.
				return c.Patch(ctx, object, patch, options...)
			}
			return l.write(ctx, "patch", object, func() error { return c.Patch(ctx, object, patch, options...) })
		},
		Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			return l.write(ctx, "apply", object, func() error { return c.Apply(ctx, object, options...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, part string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			return l.write(ctx, patchStatus, object, func() error { return c.SubResource(part).Patch(ctx, object, patch, options...) })
		},
	})
}
