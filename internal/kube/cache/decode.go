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

// kind is one of which there may be thousands that are large, and of which little is kept
// in mind.
type kind struct {
	resource string
	// read makes of an object what is kept in mind of it.
	read func(whole jsontext.Value) (runtime.Object, error)
	// strip makes of an object that was read whole what is kept in mind of it; anything
	// else stays as it is.
	strip func(whole runtime.Object) runtime.Object
}

var (
	experiments = kindOf("perfexperiments", unoutlined, IsStrippedExperiment, StripExperiment)
	runs        = kindOf("perfruns", unsummarised, isStrippedRun, StripRun)
	systems     = kindOf("perfsystems", nil, never[*v1alpha1.PerfSystem], same[*v1alpha1.PerfSystem])
	schedules   = kindOf("perfschedules", nil, never[*v1alpha1.PerfSchedule], same[*v1alpha1.PerfSchedule])
)

func kindOf[S any, T interface {
	*S
	client.Object
}](resource string, passed *json.Unmarshalers, isStripped func(T) bool, strip func(T) T,
) kind {
	return kind{
		resource: resource,
		read:     func(whole jsontext.Value) (runtime.Object, error) { return read(whole, passed, isStripped, strip) },
		strip: func(whole runtime.Object) runtime.Object {
			if object, is := whole.(T); is {
				return stripped(object, strip)
			}
			return whole
		},
	}
}

func never[T any](T) bool { return false }

func same[T any](whole T) T { return whole }

// Of these types are the fields that no outline of an experiment, and no summary of a run
// has: nine tenths of what is stored, which are passed over.
var (
	unoutlined = json.JoinUnmarshalers(passed[[]metav1.ManagedFieldsEntry](),
		passed[[]v1alpha1.Result](), passed[[]v1alpha1.Comparison](), passed[[]v1alpha1.Slowdown](),
		passed[[]v1alpha1.FactorEffect](), passed[[]v1alpha1.InvalidRun](),
		passed[v1alpha1.System](), passed[[]v1alpha1.Arm](), passed[v1alpha1.Matrix](), passed[[]v1alpha1.Scenario](),
		passed[[]v1alpha1.Note](), passed[v1alpha1.Measurement](), passed[v1alpha1.Restore]())
	unsummarised = json.JoinUnmarshalers(passed[[]metav1.ManagedFieldsEntry](),
		passed[v1alpha1.System](), passed[v1alpha1.EffectiveSystem](),
		passed[[]v1alpha1.Observation](), passed[v1alpha1.ServersStatus](),
		passed[v1alpha1.RunEvidence](), passed[v1alpha1.RunDurations]())
)

// passed leaves values of a type as they are. As the text is there, taking a value out is
// quicker than skipping its parts one by one.
func passed[T any]() *json.Unmarshalers {
	return json.UnmarshalFromFunc(func(text *jsontext.Decoder, _ *T) error {
		_, err := text.ReadValue()
		return err //nolint:wrapcheck // Said by read.
	})
}

// asStored are the options for what the API server has written: it has checked it.
var asStored = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// read makes what is kept in mind of an object: without what is passed over, if it turns out
// to be one of those that are stripped, and else of all of it, as client-go reads it.
func read[S any, T interface {
	*S
	client.Object
}](whole jsontext.Value, passed *json.Unmarshalers, isStripped func(T) bool, strip func(T) T) (T, error) {
	object := T(new(S))
	err := json.Unmarshal(whole, object, asStored, json.WithUnmarshalers(passed))
	if err == nil && !isStripped(object) {
		object = new(S)
		err = kubejson.UnmarshalCaseSensitivePreserveInts(whole, object)
	}
	if err != nil {
		return nil, fmt.Errorf("reading what is stored: %w", err)
	}
	return stripped(object, strip), nil
}

// page is a list as the API server writes it.
type page struct {
	metav1.ListMeta `json:"metadata"`
	Items           []item `json:"items"`
}

// item is an object, or why it can't be read.
type item struct {
	runtime.Object
	unread error
}

// readPage reads a page's objects one by one as they arrive. One that can't be read is its
// author's trouble: a schema takes more than our types do, and a list that failed would be
// everybody's.
func (k kind) readPage(arrived io.Reader) (*page, error) {
	each := json.UnmarshalFromFunc(func(text *jsontext.Decoder, each *item) error {
		whole, err := text.ReadValue()
		if err == nil {
			each.Object, each.unread = k.read(whole)
		}
		return err //nolint:wrapcheck // Said below.
	})
	list := &page{}
	if err := json.UnmarshalRead(arrived, list, asStored, json.WithUnmarshalers(each)); err != nil {
		return nil, fmt.Errorf("reading a page of %s: %w", k.resource, err)
	}
	return list, nil
}
