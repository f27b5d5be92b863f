// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/references"
)

// AuthorRights is the policy for declarations that refer to objects which their author may
// not use. The operator uses these objects with its own permissions, so the API server
// would not check the author's.
type AuthorRights string

const (
	// EnforceRights rejects them.
	EnforceRights AuthorRights = "enforce"
	// WarnAboutRights accepts them with a warning.
	WarnAboutRights AuthorRights = "warn"
	// IgnoreRights accepts them without a check.
	IgnoreRights AuthorRights = "ignore"
)

var errAuthorRights = errors.New("write enforce, warn or ignore")

// Set parses a flag.
func (a *AuthorRights) Set(given string) error {
	switch parsed := AuthorRights(given); parsed {
	case EnforceRights, WarnAboutRights, IgnoreRights:
		*a = parsed
		return nil
	default:
		return errAuthorRights
	}
}

// String returns the value of the flag.
func (a *AuthorRights) String() string { return string(*a) }

// Reviewer creates access reviews.
type Reviewer interface {
	Create(ctx context.Context, object client.Object, options ...client.CreateOption) error
}

// Rights checks the permissions of authors.
type Rights struct {
	// Author is the policy.
	Author AuthorRights
	// Reviewer creates the access reviews.
	Reviewer Reviewer
	// Limits the access reviews; unlimited if nil.
	Limits *Limits
	// Account is the default ServiceAccount of experiments; empty if the operator does not
	// impersonate any.
	Account string
}

// restricted returns the spec without fields that need no permission.
func (r Rights) restricted(spec v1alpha1.PerfExperimentSpec) *v1alpha1.PerfExperimentSpec {
	if spec.ServiceAccountName == r.Account {
		spec.ServiceAccountName = ""
	}
	return &spec
}

const (
	// maxQuestions bounds the access reviews of one declaration.
	maxQuestions = 400
	// questionsAtOnce bounds concurrent access reviews.
	questionsAtOnce = 8
	// reviewTimeout leaves enough of the webhook's 10 s for a response.
	reviewTimeout = 7 * time.Second
)

// judge checks whether the author of a request has the permissions that the declaration
// needs. what is its kind in messages, experiment or system.
func (r Rights) judge(ctx context.Context, namespace, what string, needs []references.Need) (admission.Warnings, field.ErrorList, error) {
	if r.Author == IgnoreRights || len(needs) == 0 {
		return nil, nil, nil
	}
	request, err := admission.RequestFromContext(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("finding the author of the request: %w", err)
	}
	a := author{user: request.UserInfo, namespace: namespace, what: what}
	lacking, err := r.lacking(ctx, a, groupQuestions(needs))
	switch {
	case r.Author == WarnAboutRights && err != nil:
		return admission.Warnings{err.Error()}, nil, nil
	case err != nil:
		return nil, nil, err
	case r.Author == WarnAboutRights:
		return a.warnings(lacking), nil, nil
	default:
		return nil, a.faults(lacking), nil
	}
}

// question is a permission, and all fields that need it.
type question struct {
	right references.Right
	needs []references.Need
}

// groupQuestions returns each permission once, in the order of first use.
func groupQuestions(needs []references.Need) []question {
	var questions []question
	at := map[references.Right]int{}
	for _, need := range needs {
		index, known := at[need.Right]
		if !known {
			index = len(questions)
			at[need.Right] = index
			questions = append(questions, question{right: need.Right})
		}
		questions[index].needs = append(questions[index].needs, need)
	}
	return questions
}

// lacking returns the permissions that the author lacks.
func (r Rights) lacking(ctx context.Context, a author, questions []question) ([]question, error) {
	if len(questions) > maxQuestions {
		return nil, apierrors.NewBadRequest(fmt.Sprintf(
			"the %s needs %d rights, but at most %d can be checked when it is written: split it, or share Secrets between modules", a.what, len(questions), maxQuestions))
	}
	if err := r.Limits.take(a.user.Username, len(questions)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	allowed := make([]bool, len(questions))
	asking, ctx := errgroup.WithContext(ctx)
	asking.SetLimit(questionsAtOnce)
	for i, question := range questions {
		asking.Go(func() (err error) {
			allowed[i], err = r.review(ctx, a, question.right)
			return err
		})
	}
	if err := asking.Wait(); err != nil {
		return nil, err
	}
	var denied []question
	for i, question := range questions {
		if !allowed[i] {
			denied = append(denied, question)
		}
	}
	return denied, nil
}

// +kubebuilder:rbac:groups=authorization.k8s.io,resources=localsubjectaccessreviews,verbs=create

// review creates one access review. The review is namespaced, so that an operator of one
// namespace needs no permission outside it.
func (r Rights) review(ctx context.Context, a author, right references.Right) (bool, error) {
	review := &authorizationv1.LocalSubjectAccessReview{
		ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace},
		Spec:       a.review(right),
	}
	if err := r.Reviewer.Create(ctx, review); err != nil {
		return false, apierrors.NewServiceUnavailable(fmt.Sprintf(
			"could not check whether user %q may %s in namespace %q: %v: this is not an error in the %s; try again", a.user.Username, right, a.namespace, err, a.what))
	}
	return review.Status.Allowed, nil
}

// author is the user of an admission request.
type author struct {
	user      authenticationv1.UserInfo
	namespace string
	// what the user writes: "experiment", "system" or "schedule".
	what string
}

func (a author) review(right references.Right) authorizationv1.SubjectAccessReviewSpec {
	extra := map[string]authorizationv1.ExtraValue{}
	for key, values := range a.user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	return authorizationv1.SubjectAccessReviewSpec{
		User: a.user.Username, Groups: a.user.Groups, UID: a.user.UID, Extra: extra,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: a.namespace, Verb: right.Verb, Group: right.Group, Resource: right.Resource, Name: right.Name,
		},
	}
}

func (a author) faults(lacking []question) field.ErrorList {
	var faults field.ErrorList
	for _, question := range lacking {
		faults = append(faults, field.Forbidden(question.place(), fmt.Sprintf(
			"%s%s: PerfLab uses only what the author may use: ask for the right, or have someone who has it apply the %s",
			question.where(), a.message(question), a.what)))
	}
	return faults
}

// warnings returns sentences that contain the paths of the fields.
func (a author) warnings(lacking []question) admission.Warnings {
	var warnings admission.Warnings
	for _, question := range lacking {
		warnings = append(warnings, fmt.Sprintf("%s%s (%s): PerfLab would refuse this with --author-rights=enforce",
			question.where(), a.message(question), question.place()))
	}
	return warnings
}

// message returns the lacking permission, and the number of fields that need it.
func (a author) message(lacking question) string {
	sentence := fmt.Sprintf("user %q may not %s in namespace %q", a.user.Username, lacking.right, a.namespace)
	if whose := lacking.needs[0].Whose; whose != "" {
		sentence += ", which " + whose + " needs"
	}
	if others := len(lacking.needs) - 1; others > 0 {
		sentence += fmt.Sprintf(" (other fields that need it: %d)", others)
	}
	return sentence
}

// place returns the path of the first field that needs the permission, in the written
// object.
func (q question) place() *field.Path {
	if q.needs[0].In != "" {
		return q.needs[0].Reference
	}
	return q.needs[0].Field
}

// where returns the object of that field, if it is not in the written object.
func (q question) where() string {
	need := q.needs[0]
	if need.In == "" {
		return ""
	}
	return fmt.Sprintf("PerfSystem %q, %s: ", need.In, need.Field)
}
