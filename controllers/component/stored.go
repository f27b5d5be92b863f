// SPDX-License-Identifier: Apache-2.0

package component

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
	// read makes of an object as it is stored what is kept in mind of it.
	read func(text []byte) (runtime.Object, error)
	// strip makes of an object that was read whole what is kept in mind of it; anything
	// else stays as it is.
	strip func(whole runtime.Object) runtime.Object
}

var (
	experiments = kindOf("perfexperiments", unoutlined, IsOutlined, Outline)
	runs        = kindOf("perfruns", unsummarised, isSummarised, Summary)
)

func kindOf[S any, T interface {
	*S
	client.Object
}](resource string, passed *json.Unmarshalers, isStripped func(T) bool, strip func(T) T,
) kind {
	return kind{
		resource: resource,
		read:     func(text []byte) (runtime.Object, error) { return read(text, passed, isStripped, strip) },
		strip: func(whole runtime.Object) runtime.Object {
			if object, is := whole.(T); is {
				return stripped(object, strip)
			}
			return whole
		},
	}
}

// Of these types are the fields that no outline of an experiment, and no summary of a run
// has: nine tenths of what is stored, which are passed over.
var (
	unoutlined = json.JoinUnmarshalers(passed[[]metav1.ManagedFieldsEntry](),
		passed[[]v1alpha1.Result](), passed[[]v1alpha1.Comparison](), passed[[]v1alpha1.Slowdown](),
		passed[[]v1alpha1.FactorEffect](), passed[[]v1alpha1.InvalidRun]())
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

// read makes what is kept in mind of an object's text: without what is passed over, if the
// object turns out to be one of those that are stripped, and else of all of it, as client-go
// reads it.
func read[S any, T interface {
	*S
	client.Object
}](text []byte, passed *json.Unmarshalers, isStripped func(T) bool, strip func(T) T) (T, error) {
	object := T(new(S))
	if err := json.Unmarshal(text, object, asStored, json.WithUnmarshalers(passed)); err != nil {
		return nil, fmt.Errorf("reading what is stored: %w", err)
	}
	if !isStripped(object) {
		object = new(S)
		if err := kubejson.UnmarshalCaseSensitivePreserveInts(text, object); err != nil {
			return nil, fmt.Errorf("reading what is stored: %w", err)
		}
	}
	return stripped(object, strip), nil
}

// page is a list as the API server writes it.
type page struct {
	metav1.ListMeta `json:"metadata"`
	Items           []item `json:"items"`
}

type item struct{ runtime.Object }

// readPage reads a page's objects one by one as they arrive.
func (k kind) readPage(text io.Reader) (*page, error) {
	each := json.UnmarshalFromFunc(func(text *jsontext.Decoder, each *item) error {
		object, err := text.ReadValue()
		if err != nil {
			return err //nolint:wrapcheck // Said below.
		}
		each.Object, err = k.read(object)
		return err
	})
	list := &page{}
	if err := json.UnmarshalRead(text, list, asStored, json.WithUnmarshalers(each)); err != nil {
		return nil, fmt.Errorf("reading a page of %s: %w", k.resource, err)
	}
	return list, nil
}
