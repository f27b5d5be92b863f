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

// Refusal is a write that failed and would fail again: the API server rejects it, or
// another owner has the object.
type Refusal struct {
	// Kind and Name of the object.
	Kind, Name string
	// Component is the part of the environment that the object belongs to, if any.
	Component string
	// Verb is the attempted action: apply, create, change, write, delete.
	Verb string
	// Owner is the owner of the existing object of that name.
	Owner Ownership
	// Cause is the API server's error; nil if no request was sent.
	Cause error
}

// Ownership is the relation of an object's owner to the wanted one.
type Ownership int

const (
	// OwnerSame means that the object has the owner of the wanted object, or does not exist.
	OwnerSame Ownership = iota
	// OwnerEarlier means that the object belongs to a deleted owner of the same name, and is being
	// deleted as well.
	OwnerEarlier
	// OwnerOther means that another owner created the object.
	OwnerOther
)

func (r *Refusal) Error() string {
	switch r.Owner {
	case OwnerOther:
		return fmt.Sprintf("%s %q already exists, but this experiment did not create it; PerfLab does not change it: delete it if you don't need it, or rename the experiment", r.Kind, r.Name)
	case OwnerEarlier:
		return fmt.Sprintf("%s %q of an earlier experiment with this name is being deleted", r.Kind, r.Name)
	default:
		return fmt.Sprintf("the cluster refuses to %s %s %q: %v", r.Verb, r.Kind, r.Name, r.Cause)
	}
}

// Sentence returns the refusal for a condition or an event, with the API server's message
// truncated.
func (r *Refusal) Sentence() string {
	if lacks := (*MissingRight)(nil); errors.As(r.Cause, &lacks) {
		return r.Error()
	}
	return prose.Sentence(r.Error())
}

// Unwrap returns the API server's error.
func (r *Refusal) Unwrap() error { return r.Cause }

// AsRefusal finds the refusal in an error; nil if a retry may help.
func AsRefusal(err error) *Refusal {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return refusal
	}
	return nil
}

// IsTransient reports whether the API server answered that it can't process the request
// now.
func IsTransient(err error) bool {
	code := statusCode(err)
	return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests
}

// IsInvalidStatus reports whether the API server has rejected a status as too large or
// invalid. The same write would always fail. A policy, which names no field of the status,
// may accept it later.
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
		// etcd's client reports too large requests with this message.
		return strings.Contains(answer.Message, "trying to send message larger than max")
	}
}

// IsRefused reports whether the API server rejects a write, perhaps only for now.
func IsRefused(err error) bool { return err != nil && isPermanent(err) }

// gerunds are the verbs as errors write them.
var gerunds = map[string]string{"apply": "applying", "create": "creating", "change": "changing", "write": "writing", "delete": "deleting"}

// explain wraps the API server's error.
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

// isPermanent reports whether the same write would fail again.
func isPermanent(err error) bool {
	switch code := statusCode(err); code {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	case http.StatusNotFound:
		// The namespace or the kind does not exist. Any other object may be created again.
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

// statusCode returns the HTTP status of the API server's response; 0 if there was none.
func statusCode(err error) int32 {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return 0
	}
	return status.Status().Code
}

// ownership compares the owner of an existing object with that of the wanted one.
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
