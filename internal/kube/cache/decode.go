// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubejson "sigs.k8s.io/json"

	"perflab.dev/perflab/api/v1alpha1"
)

// resource is one of the operator's own: a cluster may have thousands of large objects, and
// the cache keeps little of each.
type resource struct {
	name string
	// decode decodes the stripped form of an object.
	decode func(whole jsontext.Value) (runtime.Object, error)
	// strip strips an object that was decoded whole, and returns other types as they are.
	strip func(whole runtime.Object) runtime.Object
}

var (
	experiments = newResource("perfexperiments", skippedOfExperiments, IsStrippedExperiment, StripExperiment)
	runs        = newResource("perfruns", skippedOfRuns, isStrippedRun, StripRun)
	systems     = newResource("perfsystems", nil, never[*v1alpha1.PerfSystem], unchanged[*v1alpha1.PerfSystem])
	schedules   = newResource("perfschedules", nil, never[*v1alpha1.PerfSchedule], unchanged[*v1alpha1.PerfSchedule])
)

func newResource[S any, T interface {
	*S
	client.Object
}](name string, skipped *json.Unmarshalers, isStripped func(T) bool, strip func(T) T,
) resource {
	return resource{
		name:   name,
		decode: func(whole jsontext.Value) (runtime.Object, error) { return decode(whole, skipped, isStripped, strip) },
		strip: func(whole runtime.Object) runtime.Object {
			if object, is := whole.(T); is {
				return withoutManagedFields(strip(object))
			}
			return whole
		},
	}
}

func never[T any](T) bool { return false }

func unchanged[T any](whole T) T { return whole }

func withoutManagedFields[T client.Object](object T) T {
	object.SetManagedFields(nil)
	return object
}

// The decoder skips values of these types: no stripped experiment or run has them, and they
// are nine tenths of what is stored.
var (
	skippedOfExperiments = json.JoinUnmarshalers(skip[[]metav1.ManagedFieldsEntry](),
		skip[[]v1alpha1.Result](), skip[[]v1alpha1.Comparison](), skip[[]v1alpha1.Slowdown](),
		skip[[]v1alpha1.FactorEffect](), skip[[]v1alpha1.InvalidRun](),
		skip[v1alpha1.System](), skip[[]v1alpha1.Arm](), skip[v1alpha1.Matrix](), skip[[]v1alpha1.Scenario](),
		skip[[]v1alpha1.Note](), skip[v1alpha1.Measurement](), skip[v1alpha1.Restore]())
	skippedOfRuns = json.JoinUnmarshalers(skip[[]metav1.ManagedFieldsEntry](),
		skip[v1alpha1.System](), skip[v1alpha1.EffectiveSystem](),
		skip[[]v1alpha1.Observation](), skip[v1alpha1.ServersStatus](),
		skip[v1alpha1.RunEvidence](), skip[v1alpha1.RunDurations]())
)

// skip leaves values of a type empty. Reading such a value as a whole is faster than skipping
// its tokens, because the text is in memory.
func skip[T any]() *json.Unmarshalers {
	return json.UnmarshalFromFunc(func(text *jsontext.Decoder, _ *T) error {
		_, err := text.ReadValue()
		return err //nolint:wrapcheck // decode wraps it.
	})
}

// storedOptions skip checks that the API server made when it stored the object.
var storedOptions = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// decode decodes an object without the skipped types. If the result is not one that the cache
// strips, it decodes the object again, whole, as client-go does.
func decode[S any, T interface {
	*S
	client.Object
}](whole jsontext.Value, skipped *json.Unmarshalers, isStripped func(T) bool, strip func(T) T) (T, error) {
	object := T(new(S))
	err := json.Unmarshal(whole, object, storedOptions, json.WithUnmarshalers(skipped))
	if err == nil && !isStripped(object) {
		object = new(S)
		err = kubejson.UnmarshalCaseSensitivePreserveInts(whole, object)
	}
	if err != nil {
		return nil, fmt.Errorf("decoding a stored object: %w", err)
	}
	return withoutManagedFields(strip(object)), nil
}

// page is a list as the API server writes it.
type page struct {
	metav1.ListMeta `json:"metadata"`
	Items           []item `json:"items"`
}

// item is an object, or the error of decoding it.
type item struct {
	runtime.Object
	err error
}

// decodePage decodes the objects of a page one by one as they arrive. An object that cannot be
// decoded does not fail the page: the schema accepts values that the Go types do not, and one
// such object must not hide all others.
func (r resource) decodePage(body io.Reader) (*page, error) {
	each := json.UnmarshalFromFunc(func(text *jsontext.Decoder, each *item) error {
		whole, err := text.ReadValue()
		if err == nil {
			each.Object, each.err = r.decode(whole)
		}
		return err //nolint:wrapcheck // Wrapped below.
	})
	list := &page{}
	if err := json.UnmarshalRead(body, list, storedOptions, json.WithUnmarshalers(each)); err != nil {
		return nil, fmt.Errorf("decoding a page of %s: %w", r.name, err)
	}
	return list, nil
}
