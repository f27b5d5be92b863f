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

// AuthorRights says what becomes of a declaration that reaches for what its
// author may not use. The operator uses it for the author, with rights of its
// own, so that the API server would not ask.
type AuthorRights string

const (
	// EnforceRights refuses it.
	EnforceRights AuthorRights = "enforce"
	// WarnAboutRights takes it and says what would be refused.
	WarnAboutRights AuthorRights = "warn"
	// IgnoreRights takes it and asks nothing.
	IgnoreRights AuthorRights = "ignore"
)

var errAuthorRights = errors.New("write enforce, warn or ignore")

// Set reads it from a flag.
func (a *AuthorRights) Set(given string) error {
	switch parsed := AuthorRights(given); parsed {
	case EnforceRights, WarnAboutRights, IgnoreRights:
		*a = parsed
		return nil
	default:
		return errAuthorRights
	}
}

// String is what Set reads.
func (a *AuthorRights) String() string { return string(*a) }

// Reviewer is asked what others may do: a client of the API server.
type Reviewer interface {
	Create(ctx context.Context, object client.Object, options ...client.CreateOption) error
}

// Rights are how declarations are held to what their authors may.
type Rights struct {
	// Author says what becomes of those that reach further.
	Author AuthorRights
	// Reviewer is asked.
	Reviewer Reviewer
	// Limits bound how often. Nil: nothing does.
	Limits *Limits
	// Account is the ServiceAccount that experiments are written as which name none. Empty:
	// the operator acts as none.
	Account string
}

// asked is the spec without what takes no right: what anybody may leave out, he may write.
func (r Rights) asked(spec v1alpha1.PerfExperimentSpec) *v1alpha1.PerfExperimentSpec {
	if spec.ServiceAccountName == r.Account {
		spec.ServiceAccountName = ""
	}
	return &spec
}

const (
	// maxQuestions bounds what one declaration may have asked.
	maxQuestions = 400
	// questionsAtOnce bounds what is asked of the API server at a time.
	questionsAtOnce = 8
	// reviewTimeout leaves of the webhook's 10 s enough for an answer.
	reviewTimeout = 7 * time.Second
)

// judge asks whether the author of a request has the rights its declaration
// takes. What it is called, experiment or system, goes into the sentences.
func (r Rights) judge(ctx context.Context, namespace, what string, needs []references.Need) (admission.Warnings, field.ErrorList, error) {
	if r.Author == IgnoreRights || len(needs) == 0 {
		return nil, nil, nil
	}
	request, err := admission.RequestFromContext(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("finding who asks: %w", err)
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

// question is a right, and all that takes it.
type question struct {
	right references.Right
	needs []references.Need
}

// groupQuestions has each right once, in the order in which they are needed.
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

// lacking are the questions whose answer is no.
func (r Rights) lacking(ctx context.Context, a author, questions []question) ([]question, error) {
	if len(questions) > maxQuestions {
		return nil, apierrors.NewBadRequest(fmt.Sprintf(
			"the %s refers to %d things whose use takes a right, and no more than %d can be asked about while it is written: split it, or let modules share Secrets", a.what, len(questions), maxQuestions))
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
			allowed[i], err = r.ask(ctx, a, question.right)
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

// ask is one question to the API server. The review belongs to a namespace, so
// that an operator of one namespace needs no right outside it.
func (r Rights) ask(ctx context.Context, a author, right references.Right) (bool, error) {
	review := &authorizationv1.LocalSubjectAccessReview{
		ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace},
		Spec:       a.review(right),
	}
	if err := r.Reviewer.Create(ctx, review); err != nil {
		return false, apierrors.NewServiceUnavailable(fmt.Sprintf(
			"could not ask the API server whether user %q may %s in namespace %q: %v: nothing is wrong with the %s, try again", a.user.Username, right, a.namespace, err, a.what))
	}
	return review.Status.Allowed, nil
}

// author is who asked for a declaration to be stored.
type author struct {
	user      authenticationv1.UserInfo
	namespace string
	// what is asked for: "experiment", "system" or "schedule".
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
			"%s%s: PerfLab uses only what the author may; ask for the right, or let someone who has it apply the %s",
			question.where(), a.message(question), a.what)))
	}
	return faults
}

// warnings are read as sentences, so their places stand within.
func (a author) warnings(lacking []question) admission.Warnings {
	var warnings admission.Warnings
	for _, question := range lacking {
		warnings = append(warnings, fmt.Sprintf("%s%s (%s): PerfLab would refuse this with --author-rights=enforce",
			question.where(), a.message(question), question.place()))
	}
	return warnings
}

// message says what is lacking, and for how many fields.
func (a author) message(lacking question) string {
	sentence := fmt.Sprintf("user %q may not %s in namespace %q", a.user.Username, lacking.right, a.namespace)
	if whose := lacking.needs[0].Whose; whose != "" {
		sentence += ", as " + whose + " must"
	}
	if others := len(lacking.needs) - 1; others > 0 {
		sentence += fmt.Sprintf(" (%d more of its fields need it, too)", others)
	}
	return sentence
}

// place is that of the first field that needs the right, in what is being
// written.
func (q question) place() *field.Path {
	if q.needs[0].In != "" {
		return q.needs[0].Reference
	}
	return q.needs[0].Field
}

// where the field is, if not in what is being written.
func (q question) where() string {
	need := q.needs[0]
	if need.In == "" {
		return ""
	}
	return fmt.Sprintf("PerfSystem %q, %s: ", need.In, need.Field)
}
