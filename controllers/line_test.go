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

// line is the connection over which the operator reads and writes. It notes every
// write and can be cut before or after one, as when the operator is killed.
type line struct {
	// journal holds every write that took effect: "delete Kafka lab".
	journal []string
	// effects counts them.
	effects int
	// fate decides over a write: "delete Kafka lab"; nil: all pass.
	fate func(what string) fate
	// refuse is what the API server has against a write; nil: nothing.
	refuse func(what string) error
	// unread is why something can't be read; nil: everything can be.
	unread func(what string) error
	// view is a cache that is behind; nil: the operator sees what there is.
	view *view
	// hangUp takes the lease from the operator that is at work, which ends its
	// pass; takeOver lets the next one go on for a while.
	hangUp   context.CancelFunc
	takeOver func()
	// after is called after each write that took effect; nil: nobody is.
	after func()
	// scope is the only namespace that the operator watches.
	scope string
	// hit are the kinds of writes that were disturbed: "apply perfruns/status".
	hit map[string]bool
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
	// conflicting: somebody else is said to have been faster.
	conflicting
	// deposed: the operator loses its lease before it.
	deposed
	// overtaken: the operator loses its lease, and the write arrives when the next
	// one has gone on for a while.
	overtaken
)

var errCut = errors.New("the line was cut")

// write does what the line's fate says.
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
		l.hangUp()
	default:
		// The operator hears of it.
	}
	return nil
}

// decide says what becomes of a write, and with which answer it is not made.
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
		return decided, injected{apierrors.NewConflict(schema.GroupResource{}, describe(object), errors.New("somebody was faster"))}
	case deposed:
		l.hangUp()
		return decided, context.Canceled
	case overtaken:
		l.yield()
	default:
		// It takes effect.
	}
	return decided, nil
}

// yield lets the operator that has the lease now go on for a while. It keeps the lease, or
// loses it to the one that the test goes on with.
func (l *line) yield() {
	decide, hangUp, cut := l.fate, l.hangUp, l.cut
	l.fate = func(what string) fate {
		if decided := decide(what); decided != overtaken {
			return decided
		}
		return passes
	}
	l.takeOver()
	l.fate, l.hangUp, l.cut = decide, hangUp, cut
}

// disturb notes what was disturbed.
func (l *line) disturb(verb string, object any) {
	l.cut = true
	if l.hit == nil {
		l.hit = map[string]bool{}
	}
	resource := resourceOf(object)
	if verb == patchStatus {
		verb, resource = "patch", resource+"/status"
	}
	l.hit[writeOf(verb, resource)] = true
}

// injected is an answer of the API server that the line made up.
type injected struct{ *apierrors.StatusError }

func (injected) Is(target error) bool { return target == errCut }

// read says why something can't be read; nil: it can.
func (l *line) read(ctx context.Context, what string) error {
	if l.unread == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	err := l.unread(what)
	l.cut = l.cut || err != nil
	return err
}

// resourceOf is what the API server calls the objects of this one's kind.
func resourceOf(object any) string {
	kind := strings.Fields(describe(object))[0]
	return strings.ToLower(kind[strings.LastIndex(kind, ".")+1:]) + "s"
}

// patchStatus is the verb of the journal for what is written to a status.
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

// pastCache reads what there is, over the line.
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

// unselected are the kinds that others make, of which those that are borrowed, and their
// pods, have no label in common.
var unselected = []string{"DeploymentList", "StatefulSetList", "ReplicaSetList", "PodList"}

// check says that the API server is asked for some objects, in pages, and never for all it
// has.
func (p pastCache) check(list client.ObjectList, options []client.ListOption) {
	which := (&client.ListOptions{}).ApplyOptions(options)
	selected := which.LabelSelector != nil && !which.LabelSelector.Empty() || which.FieldSelector != nil && !which.FieldSelector.Empty()
	kind, err := apiutil.GVKForObject(list, p.scheme)
	borrowed := which.Namespace != "" && slices.Contains(unselected, kind.Kind)
	if err != nil || which.Limit == 0 || !selected && !borrowed {
		p.t.Errorf("a list past the cache is of all there is, or of as many at once: %s, limit %d (%v)", describeList(list, options), which.Limit, err)
	}
}

// asCached cuts what was read down to what the cache would hold of it.
func asCached(err error, read any) error {
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
		leanly(object)
	case *unstructured.UnstructuredList:
		for i := range object.Items {
			leanly(&object.Items[i])
		}
	}
	return err
}

// leanly cuts an object down to what the cache would hold of it. It holds no ConfigMaps.
func leanly(object *unstructured.Unstructured) {
	if object.GetKind() == "ConfigMap" {
		return
	}
	if lean, err := kubecache.StripTransform()(object); err == nil {
		*object = *lean.(*unstructured.Unstructured)
	}
}

// within keeps to the scope what asks for all namespaces.
func (l *line) within(options []client.ListOption) []client.ListOption {
	which := &client.ListOptions{}
	which.ApplyOptions(options)
	if which.Namespace != "" {
		return options
	}
	return append(slices.Clone(options), client.InNamespace(l.scope))
}

// to is a client whose reads and writes go over the line.
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
				return asCached(l.view.get(ctx, key, object), object)
			}
			return asCached(c.Get(ctx, key, object, options...), object)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if err := l.read(ctx, "list "+describeList(list, options)); err != nil {
				return err
			}
			options = l.within(options)
			if l.view.holds(list) {
				return asCached(l.view.list(ctx, list, options...), list)
			}
			return asCached(c.List(ctx, list, options...), list)
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
