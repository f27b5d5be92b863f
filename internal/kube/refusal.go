// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/text/prose"
)

// Refusal is a write that was not made, and would not be if it were tried
// again: the API server does not want it, or the object is not ours.
type Refusal struct {
	// Kind and Name of the object.
	Kind, Name string
	// Component is the part of the environment the object belongs to; empty:
	// to none.
	Component string
	// Verb is what was to be done to it: apply, make, change, write, delete.
	Verb string
	// Owner says whose the object of that name is that is there.
	Owner Ownership
	// Cause is the API server's own answer; nil where it was not asked.
	Cause error
}

// Ownership says whose an object is.
type Ownership int

const (
	// OwnerSame is what has the owner of what is to be written, or is not there.
	OwnerSame Ownership = iota
	// OwnerEarlier is what an owner had that bore the name of ours, and is gone. It
	// goes as well.
	OwnerEarlier
	// OwnerOther is what somebody else made.
	OwnerOther
)

func (r *Refusal) Error() string {
	switch r.Owner {
	case OwnerOther:
		return fmt.Sprintf("%s %q exists already, and this experiment did not create it; PerfLab does not change it: delete it if it is not needed, or rename the experiment", r.Kind, r.Name)
	case OwnerEarlier:
		return fmt.Sprintf("%s %q of an earlier experiment of this name is about to be deleted", r.Kind, r.Name)
	default:
		return fmt.Sprintf("the cluster refuses to %s %s %q: %v", r.Verb, r.Kind, r.Name, r.Cause)
	}
}

// Sentence is the refusal for a condition or an event: the words of others are cut.
func (r *Refusal) Sentence() string {
	if lacks := (*MissingRight)(nil); errors.As(r.Cause, &lacks) {
		return r.Error()
	}
	return prose.Sentence(r.Error())
}

// Unwrap gives the API server's answer.
func (r *Refusal) Unwrap() error { return r.Cause }

// AsRefusal finds the refusal in an error; nil: asking again may help.
func AsRefusal(err error) *Refusal {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return refusal
	}
	return nil
}

// IsTransient reports whether the API server did answer, and could not do for now
// what it was asked.
func IsTransient(err error) bool {
	code := statusCode(err)
	return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests
}

// IsInvalidStatus reports whether the API server has refused what a status holds: it is too much, or
// not as its schema has it. The same write would always be refused. What a policy refuses,
// which names no field of the status, it may take when it is tried again.
func IsInvalidStatus(err error) bool {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return false
	}
	answer := status.Status()
	switch answer.Code {
	case http.StatusRequestEntityTooLarge:
		return true
	case http.StatusUnprocessableEntity:
		return answer.Details != nil && slices.ContainsFunc(answer.Details.Causes, func(cause metav1.StatusCause) bool { return strings.HasPrefix(cause.Field, "status") })
	default:
		// So etcd's client says of what is larger than it sends.
		return strings.Contains(answer.Message, "trying to send message larger than max")
	}
}

// IsRefused reports whether the API server does not want a write, for now at least.
func IsRefused(err error) bool { return err != nil && isPermanent(err) }

// doing names in an error what was tried.
var gerunds = map[string]string{"apply": "applying", "make": "making", "change": "changing", "write": "writing", "delete": "deleting"}

// explain wraps what the API server says to a write.
func (c Cluster) explain(verb string, object client.Object, err error) error {
	if err == nil {
		return nil
	}
	refusal := c.refusal(verb, object)
	if !isPermanent(err) {
		return fmt.Errorf("%s %s %q: %w", gerunds[verb], refusal.Kind, refusal.Name, err)
	}
	refusal.Cause = err
	return refusal
}

func (c Cluster) refusal(verb string, object client.Object) *Refusal {
	result := &Refusal{Name: object.GetName(), Component: object.GetLabels()[v1alpha1.LabelComponent], Verb: verb}
	if kind, err := c.Client.GroupVersionKindFor(object); err == nil {
		result.Kind = kind.Kind
	}
	return result
}

// isPermanent: the same write would get the same answer.
func isPermanent(err error) bool {
	switch code := statusCode(err); code {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	case http.StatusNotFound:
		// The namespace is gone, or the kind. Any other object may be made again.
		return isNamespaceMissing(err)
	default:
		return meta.IsNoMatchError(err) || code >= http.StatusBadRequest && code < http.StatusInternalServerError
	}
}

func isNamespaceMissing(err error) bool {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details == nil || details.Name == "" || details.Kind == "namespaces"
}

// statusCode is the HTTP status the API server answered with; 0: it did not.
func statusCode(err error) int32 {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return 0
	}
	return status.Status().Code
}

// ownership says whose an object is that stands where we want ours.
func ownership(current, wanted client.Object) Ownership {
	has, wants := metav1.GetControllerOf(current), metav1.GetControllerOf(wanted)
	switch {
	case has == nil && wants == nil:
		return OwnerSame
	case has == nil || wants == nil:
		return OwnerOther
	case has.UID == wants.UID:
		return OwnerSame
	case has.APIVersion == wants.APIVersion && has.Kind == wants.Kind && has.Name == wants.Name:
		return OwnerEarlier
	default:
		return OwnerOther
	}
}
