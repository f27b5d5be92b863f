// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// actAsAuthor is the operator's flag to impersonate ServiceAccounts.
const actAsAuthor = "act-as-author"

// flagValue is the value of a flag in a container's arguments, or the default.
func flagValue(container corev1.Container, flag, standard string) string {
	for _, argument := range container.Args {
		if value, found := strings.CutPrefix(argument, "--"+flag+"="); found {
			return value
		}
	}
	return standard
}

// requiredRights are rights that the ServiceAccount needs for every experiment.
var requiredRights = []authorizationv1.ResourceAttributes{
	{Verb: "create", Resource: "pods"}, {Verb: "patch", Resource: "configmaps"}, {Verb: "create", Group: "k6.io", Resource: "testruns"},
}

// checkAccount checks the namespace's default ServiceAccount and its rights, if the
// operator impersonates ServiceAccounts.
func checkAccount(ctx context.Context, cluster client.Client, namespace string) []Finding {
	operators, err := listOperators(ctx, cluster)
	if err != nil || len(operators) == 0 {
		return nil
	}
	container := operators[0].Spec.Template.Spec.Containers[0]
	if !slices.Contains(container.Args, "--"+actAsAuthor) {
		return nil
	}
	name, role := flagValue(container, "default-service-account", "perflab-author"), flagValue(container, "account-role", "perflab-experiments")
	subject := fmt.Sprintf("ServiceAccount %q in namespace %q", name, namespace)
	err = cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &corev1.ServiceAccount{})
	switch {
	case apierrors.IsForbidden(err):
		return []Finding{{subject, stateWarning, "unknown: you can't get it"}}
	case apierrors.IsNotFound(err):
		return []Finding{{subject, stateMissing, fmt.Sprintf("not found, but the operator impersonates it for experiments without spec.serviceAccountName: kubectl create serviceaccount %s -n %s", name, namespace)}}
	case err != nil:
		return []Finding{{subject, stateMissing, err.Error()}}
	}
	return []Finding{checkAccountRights(ctx, cluster, subject, namespace, name, role)}
}

func checkAccountRights(ctx context.Context, cluster client.Client, subject, namespace, name, role string) Finding {
	for _, right := range requiredRights {
		right.Namespace = namespace
		review := &authorizationv1.LocalSubjectAccessReview{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace},
			Spec:       authorizationv1.SubjectAccessReviewSpec{User: "system:serviceaccount:" + namespace + ":" + name, ResourceAttributes: &right},
		}
		err := cluster.Create(ctx, review)
		switch {
		case apierrors.IsForbidden(err):
			return Finding{subject, stateWarning, "unknown rights: you can't create LocalSubjectAccessReviews"}
		case err != nil:
			return Finding{subject, stateMissing, err.Error()}
		case !review.Status.Allowed:
			return Finding{subject, stateMissing, fmt.Sprintf("can't %s %s: kubectl create rolebinding %s -n %s --clusterrole=%s --serviceaccount=%s:%s",
				right.Verb, right.Resource, name, namespace, role, namespace, name)}
		}
	}
	return Finding{subject, stateOK, "has the rights that experiments need"}
}
