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
	// burst is the number of reviews for one author at once: five of the largest
	// declarations.
	burst = 5 * maxQuestions
	// perSecond is the rate of reviews after the burst.
	perSecond = 50
	// mostAuthors bounds the number of tracked authors; the most recent stay.
	mostAuthors = 1000
)

// Limits bound the access reviews per author: each declaration may need hundreds of them,
// and a dry run stores nothing.
type Limits struct {
	authors *lru.Cache
	now     func() time.Time
}

// NewLimits gives each author a burst of reviews and a rate per second.
func NewLimits(now func() time.Time) *Limits {
	return &Limits{authors: lru.New(mostAuthors), now: now}
}

// authorBucket returns the key under which reviews are counted. All ServiceAccounts of a
// namespace share one, because an author may create many.
func authorBucket(author string) string {
	const prefix = "system:serviceaccount:"
	if name, is := strings.CutPrefix(author, prefix); is {
		namespace, _, _ := strings.Cut(name, ":")
		return prefix + namespace
	}
	return author
}

// take counts reviews of an author. Beyond the limit it returns a status that clients
// retry.
func (l *Limits) take(author string, questions int) error {
	if l == nil {
		return nil
	}
	author = authorBucket(author)
	// Two concurrent requests of a new author may get a bucket each, once.
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
	return apierrors.NewTooManyRequests(fmt.Sprintf("user %q exceeded the limit of authorization checks: retry in %d s", author, seconds), seconds)
}
