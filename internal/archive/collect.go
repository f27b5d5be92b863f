// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"encoding/binary"
	"fmt"
	"regexp"
	"time"
)

// CollectionPolicy specifies what a collection may remove.
type CollectionPolicy struct {
	// Grace is the minimum age of removed objects, 24 h; at least three times ReuseAge. Keep
	// must complete a record within it.
	Grace time.Duration
	// Runs and Experiments limit the records of an experiment's runs and of the experiment. The
	// zero value retains all.
	Runs, Experiments Retention
	// DryRun removes nothing and only reports.
	DryRun bool
	// WithoutReferences also collects an archive without any reference. Otherwise that is an
	// error, because the references were probably lost.
	WithoutReferences bool
}

// Retention is how many records of one experiment are retained, and for how long. Zero: no
// limit. A run is retained as long as the experiment's record that refers to it.
type Retention struct {
	Count int
	Age   time.Duration
}

// Removal is a removed object.
type Removal struct {
	Key  string
	Size int64
	Why  string
}

// CollectionResult summarizes a collection.
type CollectionResult struct {
	// Records removed and retained.
	Records, RecordsKept int
	// Objects removed, including the remains of interrupted writes, their Bytes, and the
	// objects retained.
	Objects, ObjectsKept int
	Bytes, BytesKept     int64
}

const defaultGrace = 24 * time.Hour

// Reasons for a removal.
const (
	whyOld          = "it exceeds the retention period"
	whySuperfluous  = "enough newer records are retained"
	whyUnreachable  = "no record refers to it"
	whyUnindexed    = "no record of its experiment has the item that it refers to"
	whyBrokenOff    = "its write was interrupted"
	whyNoReferences = "the archive has objects, but no references to them"
)

// Collect removes the records that the policy does not retain, and all unreferenced objects,
// and reports each removal. It removes nothing if any record is unreadable, because its
// references are unknown.
//
// It marks the referenced objects, with 16 bytes each, and then sweeps the list. A concurrent
// Keep is safe: new objects are too young, reused ones are rewritten, and the age of each
// object is checked again right before its removal. A short race between this check and the
// removal remains, unless the same process keeps and collects in sequence.
//
// It can be interrupted and repeated: references are removed first, then the points of their
// records, then unreferenced objects.
func (s *Store) Collect(ctx context.Context, policy CollectionPolicy, report func(Removal)) (CollectionResult, error) {
	if policy.Grace == 0 {
		policy.Grace = defaultGrace
	}
	if policy.Grace < 3*ReuseAge {
		return CollectionResult{}, fmt.Errorf("%w: the grace period must be at least %s: set a longer one, such as 24h", ErrInvalidRecord, 3*ReuseAge)
	}
	c := &collection{Store: s, policy: policy, report: report, now: s.options.Clock(), marks: marks{}, referencedRuns: map[Reference]bool{}}
	if err := c.references(ctx); err != nil {
		return c.sum, err
	}
	return c.sum, c.sweep(ctx)
}

// collection in progress.
type collection struct {
	*Store
	policy CollectionPolicy
	report func(Removal)
	now    time.Time
	// marks of the objects that retained records refer to.
	marks marks
	// referencedRuns are the runs that retained records of experiments refer to.
	referencedRuns map[Reference]bool
	// removals are the references to remove, in order.
	removals []removedRecord
	sum      CollectionResult
}

// marks of objects, by the prefix of their digest. Objects with the same prefix are both
// retained.
type marks map[uint64]struct{}

func (m marks) add(digest Digest) { m[binary.BigEndian.Uint64(digest[:])] = struct{}{} }

func (m marks) has(digest Digest) bool {
	_, marked := m[binary.BigEndian.Uint64(digest[:])]
	return marked
}

// removedRecord is a record to remove.
type removedRecord struct {
	reference Reference
	why       string
}

// references selects the records to remove. Experiments are first, because they determine
// which runs are retained. Removals start after all records were read.
func (c *collection) references(ctx context.Context) error {
	for _, kind := range []struct {
		prefix    string
		retention Retention
	}{{ExperimentsPrefix, c.policy.Experiments}, {RunsPrefix, c.policy.Runs}} {
		for group, err := range groupRecords(c.Walk(ctx, kind.prefix), Reference.isSameGroup) {
			if err != nil {
				return fmt.Errorf("nothing is deleted while a record can't be read: %w", err)
			}
			c.decide(group, kind.retention)
		}
	}
	for _, one := range c.removals {
		if err := c.remove(ctx, one.reference.String(), int64(len(one.reference.content())), one.why); err != nil {
			return err
		}
	}
	return nil
}

// isSameGroup reports whether both are runs of one experiment or records of one experiment. A
// recreated experiment with the same name is another one.
func (r Reference) isSameGroup(other Reference) bool {
	return r.group() == other.group()
}

// decide selects the records of a group to remove and marks the objects of the others.
func (c *collection) decide(group []StoredRecord, retention Retention) {
	going := selectRemovals(group, func(reference Reference) bool { return c.referencedRuns[reference] }, retention, c.policy.Grace, c.now)
	for _, kept := range group {
		if why, goes := going[kept.Reference]; goes {
			c.sum.Records++
			c.removals = append(c.removals, removedRecord{kept.Reference, why})
			continue
		}
		c.sum.RecordsKept++
		c.marks.add(kept.Reference.Manifest)
		for _, entry := range kept.Manifest.Items {
			c.marks.add(entry.Digest)
		}
		for _, run := range kept.Manifest.Runs {
			c.referencedRuns[run] = true
		}
	}
}

// selectRemovals selects an experiment's records to remove, with reasons. It is pure.
func selectRemovals(group []StoredRecord, isRestedOn func(Reference) bool, retention Retention, grace time.Duration, now time.Time) map[Reference]string {
	going := map[Reference]string{}
	for _, kept := range group {
		age := now.Sub(kept.Manifest.At)
		switch {
		case age < grace || isRestedOn(kept.Reference):
		case retention.Age > 0 && age > retention.Age:
			going[kept.Reference] = whyOld
		case retention.Count > 0 && countNewer(group, kept) >= retention.Count:
			going[kept.Reference] = whySuperfluous
		}
	}
	return going
}

// countNewer counts the records of a group that are newer than this one.
func countNewer(group []StoredRecord, than StoredRecord) int {
	count := 0
	for _, kept := range group {
		if kept.Compare(than) > 0 {
			count++
		}
	}
	return count
}

// sweep removes the unmarked objects, their points first.
func (c *collection) sweep(ctx context.Context) error {
	for _, prefix := range []string{SeriesPrefix, objectsPrefix, ExperimentsPrefix, RunsPrefix} {
		for object, err := range c.objects(ctx, prefix) {
			if err != nil {
				return err
			}
			why := removalReason(object, c.marks, c.policy.Grace, c.now)
			if why == "" {
				c.count(object)
				continue
			}
			if err := c.checkReferences(); err != nil {
				return err
			}
			if err := c.removeObject(ctx, object, why); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *collection) count(object Object) {
	if _, ok := parseObjectKey(object.Key); ok {
		c.sum.ObjectsKept++
		c.sum.BytesKept += object.Size
	}
}

func (c *collection) checkReferences() error {
	if c.sum.Records+c.sum.RecordsKept > 0 || c.policy.WithoutReferences {
		return nil
	}
	return &Error{Kind: ErrNotFound, Store: c.name, Operation: "collecting", Object: objectsPrefix, Reason: whyNoReferences, Advice: "restore the references from the objects, or confirm that everything may be deleted"}
}

// removalReason describes why an object is removed; empty: it is retained. It is pure.
func removalReason(object Object, marked marks, grace time.Duration, now time.Time) string {
	if now.Sub(object.Modified) < grace {
		return ""
	}
	if digest, ok := parseObjectKey(object.Key); ok {
		if marked.has(digest) {
			return ""
		}
		return whyUnreachable
	}
	if point, ok := parsePoint(object.Key); ok && !marked.has(point.Item) {
		return whyUnindexed
	}
	if isRemains(object.Key) {
		return whyBrokenOff
	}
	return ""
}

// temporary matches the names of incomplete files of a directory's library.
var temporary = regexp.MustCompile(`^(.+)\.[0-9a-f]{8,20}\.tmp$`)

func isRemains(key string) bool {
	parts := temporary.FindStringSubmatch(key)
	if parts == nil {
		return false
	}
	_, err := ParseReference(parts[1])
	_, isObject := parseObjectKey(parts[1])
	_, isPoint := parsePoint(parts[1])
	return isObject || isPoint || err == nil
}

// removeObject removes an object unless it was modified since it was listed.
func (c *collection) removeObject(ctx context.Context, object Object, why string) error {
	if !c.policy.DryRun {
		_, now, err := c.readPrefix(ctx, object.Key, 1, false)
		if isAbsent(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if !now.Modified.Equal(object.Modified) && c.options.Clock().Sub(now.Modified) < c.policy.Grace {
			c.count(object)
			return nil
		}
	}
	c.sum.Objects++
	return c.remove(ctx, object.Key, object.Size, why)
}

func (c *collection) remove(ctx context.Context, key string, size int64, why string) error {
	if !c.policy.DryRun {
		if err := c.delete(ctx, key); err != nil {
			return err
		}
	}
	c.sum.Bytes += size
	if c.report != nil {
		c.report(Removal{Key: key, Size: size, Why: why})
	}
	return nil
}
