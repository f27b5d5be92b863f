// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at returns a time this many minutes after noon.
func at(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

// waiting returns the entry of namespace/name that was queued this many minutes after noon.
func waiting(namespace, name string, arrived int) Entry {
	return Entry{
		Experiment: types.NamespacedName{Namespace: namespace, Name: name}, UID: types.UID(namespace + name),
		Queued: at(arrived), Renewed: at(60),
	}
}

func with(ticket Entry, edit func(*Entry)) Entry {
	edit(&ticket)
	return ticket
}

func TestNewAlternatesNamespaces(t *testing.T) {
	many := []Entry{waiting("big", "one", 0), waiting("big", "two", 1), waiting("big", "three", 2), waiting("small", "late", 30)}
	for name, test := range map[string]struct {
		edit func([]Entry)
		want []string
	}{
		"by arrival": {func([]Entry) {}, []string{"big/one", "small/late", "big/two", "big/three"}},
		"after a turn of big": {
			func(tickets []Entry) { tickets[0].Released = at(40) },
			[]string{"small/late", "big/one", "big/two", "big/three"},
		},
		"while big has its turn": {
			func(tickets []Entry) { tickets[0].Acquired = at(40) },
			[]string{"small/late", "big/two", "big/three"},
		},
		"after turns of both": {
			func(tickets []Entry) { tickets[0].Released, tickets[3].Released = at(40), at(50) },
			[]string{"big/one", "small/late", "big/two", "big/three"},
		},
		"without who is gone": {
			func(tickets []Entry) { tickets[0].Renewed = at(29) },
			[]string{"big/two", "small/late", "big/three"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tickets := append([]Entry{}, many...)
			test.edit(tickets)
			var order []string
			for _, ticket := range New(tickets, at(60)).waiting {
				order = append(order, ticket.Experiment.String())
			}
			expect.Equal(t, test.want, order, "order")
		})
	}
}

// Positions in a queue in which some experiments have nodes of their own.
func TestPositionOfEntries(t *testing.T) {
	pool := func(name string) func(*Entry) {
		return func(ticket *Entry) { ticket.Lane = Lane{Nodes: []map[string]string{{"pool": name}}} }
	}
	measures := with(with(waiting("a", "measures", 0), pool("m5")), func(ticket *Entry) { ticket.Acquired = at(1) })
	beside := with(waiting("b", "beside", 10), pool("r7"))
	all := waiting("c", "all", 20)
	last := with(waiting("d", "last", 30), pool("r7"))
	line := New([]Entry{measures, beside, all, last}, at(60))
	for _, test := range []struct {
		ticket Entry
		want   Position
	}{
		{beside, Position{}},
		{all, Position{2, beside.Experiment}},
		{last, Position{2, all.Experiment}},
	} {
		expect.Equal(t, test.want, line.Position(&test.ticket), "place of %s", test.ticket.Experiment)
	}
	want := []types.NamespacedName{beside.Experiment}
	expect.Equal(t, want, line.Waiting(1), "soon")
}

func TestAdvance(t *testing.T) {
	mine := waiting("a", "mine", 0)
	held := with(mine, func(ticket *Entry) { ticket.Acquired = at(1) })
	other, neighbour := waiting("b", "other", 20), waiting("a", "neighbour", 10)
	for name, test := range map[string]struct {
		tickets []Entry
		mine    Entry
		atBlock bool
		holds   bool
	}{
		"empty queue":                            {nil, mine, true, true},
		"first in line":                          {[]Entry{mine, other}, mine, true, true},
		"another measures":                       {[]Entry{mine, with(other, func(ticket *Entry) { ticket.Acquired = at(2) })}, mine, true, false},
		"in a block":                             {[]Entry{held, other}, held, false, true},
		"at a block, others wait":                {[]Entry{held, other}, held, true, false},
		"at a block, only the namespace's waits": {[]Entry{held, neighbour}, held, true, true},
		"at a block, who waits is gone":          {[]Entry{held, with(other, func(ticket *Entry) { ticket.Renewed = at(0) })}, held, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			got := Advance(test.tickets, test.mine, test.atBlock, at(60))
			if got.Acquired.IsZero() == test.holds {
				t.Errorf("holds: %t, want %t", !got.Acquired.IsZero(), test.holds)
			}
			if gaveUp := !test.mine.Acquired.IsZero() && !test.holds; gaveUp != got.Released.Equal(at(60)) {
				t.Errorf("the turn ended at %v", got.Released)
			}
		})
	}
}

// In any queue, only one experiment measures at a time, and all of them finish.
func TestEveryExperimentMeasuresEventually(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // Not a secret.
		tickets := anyLine(random)
		blocks, now := map[types.UID]int{}, at(60)
		for range 60 * len(tickets) {
			if len(tickets) == 0 {
				break
			}
			now = now.Add(time.Second)
			for i := range tickets {
				tickets[i].Renewed = now
			}
			i := random.IntN(len(tickets))
			if !tickets[i].Acquired.IsZero() {
				blocks[tickets[i].UID]++
			}
			if blocks[tickets[i].UID] == 2 {
				tickets = slices.Delete(tickets, i, i+1)
				continue
			}
			tickets[i] = Advance(tickets, tickets[i], true, now)
			if holder := New(tickets, now).ConflictingEntry(&tickets[i]); holder != nil && !tickets[i].Acquired.IsZero() {
				t.Fatalf("seed %d: %s and %s measure each other", seed, holder.Experiment, tickets[i].Experiment)
			}
		}
		if len(tickets) > 0 {
			t.Fatalf("seed %d: these are still in line: %v", seed, tickets)
		}
	}
}

func anyLine(random *rand.Rand) []Entry {
	var tickets []Entry
	for i := range 1 + random.IntN(12) {
		ticket := waiting(fmt.Sprint("n", random.IntN(4)), fmt.Sprint("e", i), random.IntN(50))
		if pool := random.IntN(4); pool > 0 {
			ticket.Lane.Nodes = []map[string]string{{"pool": fmt.Sprint(pool)}}
		}
		tickets = append(tickets, ticket)
	}
	return tickets
}

func TestLanesOverlap(t *testing.T) {
	nodes := func(selectors ...map[string]string) Lane { return Lane{Nodes: selectors} }
	m5, r7 := map[string]string{"pool": "m5"}, map[string]string{"pool": "r7"}
	for _, test := range []struct {
		one, other Lane
		meet       bool
	}{
		{Lane{}, Lane{Name: "a"}, true},
		{Lane{}, nodes(m5), true},
		{Lane{Name: "a"}, Lane{Name: "a"}, true},
		{Lane{Name: "a"}, Lane{Name: "b"}, false},
		{Lane{Name: "a"}, nodes(m5), true},
		{nodes(m5), nodes(r7), false},
		{nodes(m5, r7), nodes(r7), true},
		{nodes(m5), nodes(map[string]string{"zone": "a"}), true},
		{nodes(m5), nodes(map[string]string{"pool": "m5", "zone": "a"}), true},
	} {
		expect.Equal(t, test.meet, test.one.Overlaps(test.other), "%s meets %s", test.one, test.other)
		if test.one.Overlaps(test.other) != test.other.Overlaps(test.one) {
			t.Errorf("%s and %s don't agree", test.one, test.other)
		}
	}
}

func TestNewLaneOfSystems(t *testing.T) {
	bound := func(pool string) *v1alpha1.Placement {
		return &v1alpha1.Placement{NodeSelector: map[string]string{"pool": pool}}
	}
	system := v1alpha1.System{
		Kafka:    &v1alpha1.Kafka{Brokers: v1alpha1.KafkaNodes{Replicas: 3, Placement: bound("kafka")}},
		Postgres: &v1alpha1.Postgres{External: &v1alpha1.ExternalPostgres{}},
		Modules:  []v1alpha1.Module{{Name: "a", Placement: bound("m5")}, {Name: "b", Placement: bound("m5")}},
	}
	asked := &v1alpha1.Lane{Type: v1alpha1.LaneNodes}
	if got := NewLane(asked, []v1alpha1.System{system}).String(); got != "nodes pool=kafka, pool=m5" {
		t.Errorf("lane is %q", got)
	}
	system.Modules[1].Placement = nil
	if got := Unbound([]v1alpha1.System{system}); len(got) != 1 || got[0] != "module b" {
		t.Errorf("free are %v", got)
	}
	if got := NewLane(asked, []v1alpha1.System{system}).String(); got != "the cluster" {
		t.Errorf("lane is %q", got)
	}
	if got := NewLane(nil, nil).String(); got != "the cluster" {
		t.Errorf("without a word the lane is %q", got)
	}
}

// A written entry is read unchanged; an invalid one occupies the whole cluster.
func TestEntryRoundTripsThroughLease(t *testing.T) {
	ticket := with(waiting("a", "b", 0), func(ticket *Entry) {
		ticket.Acquired, ticket.Released, ticket.Lane = at(5), at(2), Lane{Name: "m5"}
	})
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(at(0))}}
	expect.NoError(t, ticket.Write(lease))
	if diff := cmp.Diff(ticket, Read(lease)); diff != "" {
		t.Errorf("-written +read\n%s", diff)
	}
	ticket.Acquired = time.Time{}
	expect.NoError(t, ticket.Write(lease))
	if read := Read(lease); !read.Acquired.IsZero() || lease.Spec.HolderIdentity != nil {
		t.Errorf("a turn that was given up is still %v's", lease.Spec.HolderIdentity)
	}
	lease.Annotations[annotationLane] = "{"
	if read := Read(lease); !read.Lane.isWholeCluster() {
		t.Errorf("what can't be read is %s", read.Lane)
	}
}
