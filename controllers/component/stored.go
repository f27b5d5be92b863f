// SPDX-License-Identifier: Apache-2.0

package component

import (
	"bytes"
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
	// read makes of the next object of a text what is kept in mind of it.
	read func(text *storedText) (runtime.Object, error)
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
		read:     func(text *storedText) (runtime.Object, error) { return read(text, passed, isStripped, strip) },
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

// read makes what is kept in mind of the next object of a text: without what is passed over,
// if it turns out to be one of those that are stripped, and else of all of it, as client-go
// reads it.
func read[S any, T interface {
	*S
	client.Object
}](text *storedText, passed *json.Unmarshalers, isStripped func(T) bool, strip func(T) T) (T, error) {
	object := T(new(S))
	whole, err := text.next(object, passed)
	if err != nil {
		return nil, err
	}
	if !isStripped(object) {
		object = new(S)
		if err := kubejson.UnmarshalCaseSensitivePreserveInts(whole, object); err != nil {
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
func (k kind) readPage(arrived *held) (*page, error) {
	each := json.UnmarshalFromFunc(func(text *jsontext.Decoder, each *item) (err error) {
		each.Object, err = k.read(&storedText{text, arrived})
		return err
	})
	list := &page{}
	if err := json.UnmarshalRead(arrived, list, asStored, json.WithUnmarshalers(each)); err != nil {
		return nil, fmt.Errorf("reading a page of %s: %w", k.resource, err)
	}
	return list, nil
}

// storedText is one that is decoded while it arrives, and of which the object that is
// decoded last can be read a second time.
type storedText struct {
	*jsontext.Decoder
	arrived *held
}

// next decodes the next object but for what is passed over, and gives its whole text, which
// holds until the one after it.
func (t *storedText) next(object any, passed *json.Unmarshalers) (whole []byte, err error) {
	t.arrived.forget(t.InputOffset())
	if err := json.UnmarshalDecode(t.Decoder, object, json.WithUnmarshalers(passed)); err != nil {
		return nil, fmt.Errorf("reading what is stored: %w", err)
	}
	return bytes.TrimLeft(t.arrived.until(t.InputOffset()), ", \t\r\n"), nil
}

// held keeps what it has read until it is forgotten. Of pages that follow each other it
// reads one after the other.
type held struct {
	from io.Reader
	text []byte
	// first is where in all that was read the text begins, in bytes.
	first int64
}

func (h *held) begin(from io.Reader) { h.from, h.text, h.first = from, h.text[:0], 0 }

func (h *held) Read(into []byte) (int, error) {
	n, err := h.from.Read(into)
	h.text = append(h.text, into[:n]...)
	return n, err //nolint:wrapcheck // A reader's end is told as it is.
}

func (h *held) forget(until int64) {
	h.text = append(h.text[:0], h.text[until-h.first:]...)
	h.first = until
}

func (h *held) until(end int64) []byte { return h.text[:end-h.first] }
