// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"math"
	"strings"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/lru"
)

const (
	// burst is how many questions about one author are asked at once: five of the largest
	// declarations.
	burst = 5 * maxQuestions
	// perSecond is how many are asked afterwards.
	perSecond = 50
	// mostAuthors are remembered, those who wrote last.
	mostAuthors = 1000
)

// Limits bound how often the API server is asked about each author: each declaration may take
// hundreds of questions, and a dry run stores nothing.
type Limits struct {
	authors *lru.Cache
	now     func() time.Time
}

// NewLimits gives each author a burst of questions, and some more each second.
func NewLimits(now func() time.Time) *Limits {
	return &Limits{authors: lru.New(mostAuthors), now: now}
}

// authorBucket is whose questions are counted together: those about the ServiceAccounts of a
// namespace, of which whoever may write there makes as many as he likes.
func authorBucket(author string) string {
	const prefix = "system:serviceaccount:"
	if name, is := strings.CutPrefix(author, prefix); is {
		namespace, _, _ := strings.Cut(name, ":")
		return prefix + namespace
	}
	return author
}

// take questions about an author. It fails with a status that clients retry.
func (l *Limits) take(author string, questions int) error {
	if l == nil {
		return nil
	}
	author = authorBucket(author)
	// Two requests of a new author at once may get a bucket each, once.
	known, is := l.authors.Get(author)
	bucket, isBucket := known.(*rate.Limiter)
	if !is || !isBucket {
		bucket = rate.NewLimiter(perSecond, burst)
		l.authors.Add(author, bucket)
	}
	now := l.now()
	reserved := bucket.ReserveN(now, questions)
	wait := reserved.DelayFrom(now)
	if wait <= 0 {
		return nil
	}
	reserved.CancelAt(now)
	seconds := int(math.Ceil(wait.Seconds()))
	return apierrors.NewTooManyRequests(fmt.Sprintf("user %q has written so much that the API server cannot be asked about all of it: try again in %d s", author, seconds), seconds)
}
