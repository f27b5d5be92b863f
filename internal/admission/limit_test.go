// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"perflab.dev/perflab/internal/testing/expect"
)

// An author above the limit waits, and other authors don't.
func TestLimitsArePerAuthor(t *testing.T) {
	now := time.Unix(0, 0)
	limits := NewLimits(func() time.Time { return now })
	for range burst / maxQuestions {
		expect.NoError(t, limits.take("jane", maxQuestions))
	}
	err := limits.take("jane", maxQuestions)
	seconds, is := apierrors.SuggestsClientDelay(err)
	if !apierrors.IsTooManyRequests(err) || !is || seconds != maxQuestions/perSecond {
		t.Errorf("one too many of the largest declarations: %v, after %d s", err, seconds)
	}
	expect.NoError(t, limits.take("john", maxQuestions))
	now = now.Add(maxQuestions / perSecond * time.Second)
	expect.NoError(t, limits.take("jane", maxQuestions))
	expect.NoError(t, (*Limits)(nil).take("jane", burst+1))
}

// All ServiceAccounts of a namespace share one limit, because an author may create many.
func TestServiceAccountsOfANamespaceAreOneAuthor(t *testing.T) {
	limits := NewLimits(func() time.Time { return time.Unix(0, 0) })
	for n := range burst / maxQuestions {
		expect.NoError(t, limits.take(fmt.Sprint("system:serviceaccount:lab:bot-", n), maxQuestions))
	}
	if err := limits.take("system:serviceaccount:lab:another", 1); !apierrors.IsTooManyRequests(err) {
		t.Errorf("another ServiceAccount of the namespace: %v", err)
	}
	expect.NoError(t, limits.take("system:serviceaccount:other:bot-0", maxQuestions))
}
