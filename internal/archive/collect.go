// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"encoding/binary"
	"fmt"
	"regexp"
	"time"
)

// Policy says what a collection may take away.
type Policy struct {
	// Grace is how old has to be what goes, 24 h; at least three times Young. A record
	// that is being kept meanwhile has to be whole within it.
	Grace time.Duration
	// Runs of an experiment that stay, and records of an experiment. The zero value
	// has all of them stay.
	Runs, Experiments Retention
	// DryRun takes nothing away, and says what would go.
	DryRun bool
	// WithoutReferences also collects an archive in which not one reference is left.
	// Otherwise that is an error: it is more likely that they were lost.
	WithoutReferences bool
}

// Retention is how many records of one experiment stay, and for how long. Zero: for
// ever. A run that a record of an experiment rests on stays as long as that.
type Retention struct {
	Count int
	Age   time.Duration
}

// Gone is what goes, or would.
type Gone struct {
	Key  string
	Size int64
	Why  string
}

// Collected sums up what a collection did, or would do.
type Collected struct {
	// Records that went, and those that stay.
	Records, RecordsKept int
	// Objects that went, with the remains of writes that were broken off, their Bytes,
	// and the objects that stay.
	Objects, ObjectsKept int
	Bytes, BytesKept     int64
}

const defaultGrace = 24 * time.Hour

// Reasons for which something goes.
const (
	whyOld          = "it is older than records are retained"
	whySuperfluous  = "there are as many later ones as are retained"
	whyUnreachable  = "no record refers to it"
	whyUnindexed    = "no record of its experiment has what it leads to"
	whyBrokenOff    = "a write of it was broken off"
	whyNoReferences = "there are objects, and not one reference leads to any of them"
)

// Collect takes away the records that a policy does not retain, and all objects that no
// record refers to. What goes is told one by one. Nothing goes if any record can't be
// read: what it refers to is not known.
//
// It marks what is referred to, 16 bytes an object, and sweeps over the list. Whoever
// keeps a record at the same time loses nothing: what was just written is too young,
// and what a record uses again, too; that is asked again of each object right before it
// goes. A moment between this question and the deletion remains, unless the same
// program keeps and collects, one after the other.
//
// It can end anywhere and be done again: references go first, then what leads to their
// records from series, then what they alone referred to.
func (s *Store) Collect(ctx context.Context, policy Policy, tell func(Gone)) (Collected, error) {
	if policy.Grace == 0 {
		policy.Grace = defaultGrace
	}
	if policy.Grace < 3*Young {
		return Collected{}, fmt.Errorf("%w: what is collected has to be older than %s: give a longer grace, such as 24h", ErrRecord, 3*Young)
	}
	c := &collection{Store: s, policy: policy, tell: tell, now: s.options.Clock(), marks: marks{}, rested: map[Reference]bool{}}
	if err := c.references(ctx); err != nil {
		return c.sum, err
	}
	return c.sum, c.sweep(ctx)
}

// collection that is on.
type collection struct {
	*Store
	policy Policy
	tell   func(Gone)
	now    time.Time
	// marks of the objects that records refer to which stay.
	marks marks
	// rested are the runs that experiments' records rest on which stay.
	rested map[Reference]bool
	// going are references in the order in which they go.
	going []retired
	sum   Collected
}

// marks of objects, by the beginning of their digest. Two that begin alike both stay.
type marks map[uint64]struct{}

func (m marks) add(digest Digest) { m[binary.BigEndian.Uint64(digest[:])] = struct{}{} }

func (m marks) has(digest Digest) bool {
	_, marked := m[binary.BigEndian.Uint64(digest[:])]
	return marked
}

// retired is a record that goes.
type retired struct {
	reference Reference
	why       string
}

// references decides on records, experiments' first: they say which runs have to stay.
// Only when all of them were read does the first one go.
func (c *collection) references(ctx context.Context) error {
	for _, kind := range []struct {
		prefix    string
		retention Retention
	}{{ExperimentsPrefix, c.policy.Experiments}, {RunsPrefix, c.policy.Runs}} {
		for group, err := range grouped(c.Walk(ctx, kind.prefix), Reference.isBeside) {
			if err != nil {
				return fmt.Errorf("nothing is taken away while a record can't be read: %w", err)
			}
			c.decide(group, kind.retention)
		}
	}
	for _, one := range c.going {
		if err := c.remove(ctx, one.reference.String(), int64(len(one.reference.content())), one.why); err != nil {
			return err
		}
	}
	return nil
}

// isBeside: of two runs of one experiment, or two records of it. An experiment that was
// made anew under its name is another one.
func (r Reference) isBeside(other Reference) bool {
	return r.group() == other.group()
}

// decide which of a group stay, and mark what those refer to.
func (c *collection) decide(group []Kept, retention Retention) {
	going := retire(group, func(reference Reference) bool { return c.rested[reference] }, retention, c.policy.Grace, c.now)
	for _, kept := range group {
		if why, goes := going[kept.Reference]; goes {
			c.sum.Records++
			c.going = append(c.going, retired{kept.Reference, why})
			continue
		}
		c.sum.RecordsKept++
		c.marks.add(kept.Reference.Manifest)
		for _, entry := range kept.Manifest.Items {
			c.marks.add(entry.Digest)
		}
		for _, run := range kept.Manifest.Runs {
			c.rested[run] = true
		}
	}
}

// retire says which of an experiment's records go, and why. It is pure.
func retire(group []Kept, isRestedOn func(Reference) bool, retention Retention, grace time.Duration, now time.Time) map[Reference]string {
	going := map[Reference]string{}
	for _, kept := range group {
		age := now.Sub(kept.Manifest.At)
		switch {
		case age < grace || isRestedOn(kept.Reference):
		case retention.Age > 0 && age > retention.Age:
			going[kept.Reference] = whyOld
		case retention.Count > 0 && later(group, kept) >= retention.Count:
			going[kept.Reference] = whySuperfluous
		}
	}
	return going
}

// later counts the records of a group that stand before this one.
func later(group []Kept, than Kept) int {
	count := 0
	for _, kept := range group {
		if kept.Compare(than) > 0 {
			count++
		}
	}
	return count
}

// sweep takes away the objects that nothing marked, what leads to them first.
func (c *collection) sweep(ctx context.Context) error {
	for _, prefix := range []string{SeriesPrefix, objectsPrefix, ExperimentsPrefix, RunsPrefix} {
		for object, err := range c.objects(ctx, prefix) {
			if err != nil {
				return err
			}
			why := unwanted(object, c.marks, c.policy.Grace, c.now)
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
	if _, ok := digestOfKey(object.Key); ok {
		c.sum.ObjectsKept++
		c.sum.BytesKept += object.Size
	}
}

func (c *collection) checkReferences() error {
	if c.sum.Records+c.sum.RecordsKept > 0 || c.policy.WithoutReferences {
		return nil
	}
	return &Error{Is: ErrNotFound, Store: c.name, Doing: "collecting", Object: objectsPrefix, Why: whyNoReferences, Advice: "restore the references from the objects, or say that all may go"}
}

// unwanted says why an object goes; empty: it stays. It is pure.
func unwanted(object Object, marked marks, grace time.Duration, now time.Time) string {
	if now.Sub(object.Modified) < grace {
		return ""
	}
	if digest, ok := digestOfKey(object.Key); ok {
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

// temporary is how a directory's library names a file until it is whole.
var temporary = regexp.MustCompile(`^(.+)\.[0-9a-f]{8,20}\.tmp$`)

func isRemains(key string) bool {
	parts := temporary.FindStringSubmatch(key)
	if parts == nil {
		return false
	}
	_, err := ParseReference(parts[1])
	_, isObject := digestOfKey(parts[1])
	_, isPoint := parsePoint(parts[1])
	return isObject || isPoint || err == nil
}

// removeObject takes away an object that is still as old as it was when it was listed.
func (c *collection) removeObject(ctx context.Context, object Object, why string) error {
	if !c.policy.DryRun {
		_, now, err := c.peek(ctx, object.Key, 1, false)
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
	if c.tell != nil {
		c.tell(Gone{Key: key, Size: size, Why: why})
	}
	return nil
}
