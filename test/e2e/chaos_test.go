//go:build e2e

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
)

const (
	// faultsEach is how many faults strike one experiment: enough to be in each
	// other's way, few enough for it to come to its end.
	faultsEach = 20
	// recovery is how long a thing may take to be well again.
	recovery = 3 * time.Minute
	// underLoad is how long after a load's start a fault is sure to meet it. The
	// load takes 25 s.
	underLoad = 12 * time.Second
)

// TestChaos breaks a local cluster at random moments while experiments are on,
// and looks after each fault whether a person was told, and whether what is kept
// is true.
//
//	CHAOS_FAULTS  how many faults, 10 unless said
//	CHAOS_SEED    the order and moments of an earlier time
//	CHAOS_ONLY    only faults whose names have this in them
//	CHAOS_CLOCK   also moves the clock, which is that of this machine
func TestChaos(t *testing.T) {
	c := &chaos{t: t, faults: number(t, "CHAOS_FAULTS", 10), seed: number(t, "CHAOS_SEED", time.Now().Unix())}
	t.Logf("CHAOS_SEED=%d does the same again", c.seed)
	c.rand = rand.New(rand.NewPCG(uint64(c.seed), 0))
	if len(c.chosen()) == 0 {
		t.Fatalf("CHAOS_ONLY=%q chooses none of the faults. They are: %s", os.Getenv("CHAOS_ONLY"), strings.Join(faultNames(), ", "))
	}
	c.boundVolumes()
	t.Cleanup(c.print)
	for experiments := 0; len(c.rows) < int(c.faults); experiments++ {
		c.experiment(experiments)
	}
}

// boundVolumes gives the volumes a room that can be filled. What earlier tests
// left of theirs has to be gone.
func (c *chaos) boundVolumes() {
	ctx := c.t.Context()
	await.Until(ctx, c.t, time.Minute, "no volume to be there", func() (bool, string) {
		list := &corev1.PersistentVolumeList{}
		expect.NoError(c.t, cluster.List(ctx, list), "listing volumes")
		return len(list.Items) == 0, fmt.Sprintf("%d volumes", len(list.Items))
	})
	if err := tool(ctx, "break.sh", "bound-volumes", "3072"); err != nil {
		c.t.Logf("NOT TESTED: volumes that are full, for they can't be bounded here: %v", err)
		c.unbounded = true
	}
}

func number(t *testing.T, variable string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s is %q: write a number", variable, text)
	}
	return value
}

// chaos is one time of it.
type chaos struct {
	t      *testing.T
	faults int64
	seed   int64
	rand   *rand.Rand
	// unbounded: volumes have the machine's disk, which nobody fills.
	unbounded bool
	// deck are the faults yet to come before each has been there once.
	deck []fault
	rows []*row
}

// row is a fault that was made, and what came of it.
type row struct {
	fault string
	// hit is what exactly was broken.
	hit string
	// moment is what the experiment did then.
	moment string
	// spoils: the run it hit must not count.
	spoils bool
	// run that was on, and what became of it.
	run     string
	outcome string
	// told is what a person could read of it, and after how long.
	told string
	// wrong is what must not be.
	wrong []string
}

// draw takes the next fault, each once before any comes again.
func (c *chaos) draw() fault {
	if len(c.deck) == 0 {
		c.deck = c.chosen()
		c.rand.Shuffle(len(c.deck), func(i, j int) { c.deck[i], c.deck[j] = c.deck[j], c.deck[i] })
	}
	next := c.deck[0]
	c.deck = c.deck[1:]
	return next
}

// between picks a time at random.
func (c *chaos) between(least, most time.Duration) time.Duration {
	return least + time.Duration(c.rand.Int64N(int64(most-least)+1))
}

// experiment makes one and breaks things under it, lets it come to its end in
// peace and takes it away. Every other one has a replica of PostgreSQL.
func (c *chaos) experiment(n int) {
	ctx := c.t.Context()
	instances := int32(1 + n%2)
	s := &scene{t: c.t, rand: c.rand, instances: instances, kept: map[string]string{}}
	s.experiment = apply(c.t, namespace(c.t), "testdata/chaos.yaml", func(e *v1alpha1.PerfExperiment) {
		e.Spec.System.Postgres.Instances = instances
	})
	first := len(c.rows)
	for range faultsEach {
		if len(c.rows) == int(c.faults) || !c.strike(ctx, s) {
			break
		}
	}
	s.awaitEnd(ctx)
	s.judge(ctx, c.rows[first:])
	assertDeletion(ctx, c.t, s.experiment)
}

// strike makes one fault and looks at what comes of it. It reports false when
// the experiment is over.
func (c *chaos) strike(ctx context.Context, s *scene) bool {
	next, wait, lasts := c.draw(), c.between(0, 10*time.Second), time.Duration(0)
	if next.lasts != nil {
		lasts = next.lasts(c)
	}
	pause(ctx, wait)
	before, ok := s.ripe(ctx, next)
	if !ok {
		c.deck = append(c.deck, next)
		return false
	}
	r := &row{fault: next.name, moment: before.phase(), run: before.run(), spoils: next.spoils && before.freshLoad()}
	c.rows = append(c.rows, r)
	hit, heal, err := next.strike(ctx, s)
	expect.NoError(c.t, err, "%s", next.name)
	r.hit = strings.TrimSpace(hit + " " + lasting(lasts))
	c.watch(ctx, s, next, r, before, lasts, heal)
	r.wrong = append(r.wrong, s.check(ctx)...)
	c.t.Logf("%d/%d %s", len(c.rows), c.faults, r)
	return true
}

func lasting(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return "for " + d.Round(time.Second).String()
}

// watch follows the experiment until the fault is over, a person has been told,
// or nothing came of it.
func (c *chaos) watch(ctx context.Context, s *scene, f fault, r *row, before moment, lasts time.Duration, heal func(context.Context) error) {
	struck, healed := time.Now(), time.Time{}
	for {
		pause(ctx, time.Second)
		if healed.IsZero() && time.Since(struck) >= lasts {
			expect.NoError(c.t, heal(ctx), "mending after %q", f.name)
			healed = time.Now()
		}
		now, err := s.look(ctx)
		if err != nil {
			if !healed.IsZero() && time.Since(healed) > recovery {
				c.t.Fatalf("%s after it was over: %v", recovery, err)
			}
			continue
		}
		if r.told == "" {
			r.told = now.tells(f, before, time.Since(struck))
		}
		if healed.IsZero() {
			continue
		}
		if f.told == nil && now.goesOn(before) {
			return
		}
		if r.told != "" || f.overdue(struck, healed) {
			r.wrong = append(r.wrong, untold(r, before, now)...)
			return
		}
	}
}

// untold says what a person should have read and could not.
func untold(r *row, before, now moment) []string {
	switch {
	case r.told != "":
		return nil
	case r.spoils:
		return []string{fmt.Sprintf("no condition names it after %s; seen: %s", patience, now)}
	case !now.goesOn(before) && now.waitsFor() != "":
		// An earlier fault is not over, and it was named when that one struck.
		r.told = "– (still " + now.waitsFor() + ")"
		return nil
	case !now.goesOn(before):
		return []string{fmt.Sprintf("nothing goes on and no condition says why; seen: %s", now)}
	default:
		r.told = "– (" + now.phase() + ": " + now.experiment.Status.WaitingFor + ")"
		return nil
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func (r *row) String() string {
	cells := []string{r.fault, r.hit, r.moment, cmp.Or(r.told, "–"), r.outcome, strings.Join(r.wrong, "; ")}
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(cell, "|", "/")
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

// print writes the table, also of a time that was cut off.
func (c *chaos) print() {
	var lines []string
	wrong := 0
	for i, r := range c.rows {
		lines = append(lines, fmt.Sprintf("| %d %s", i+1, r))
		if len(r.wrong) > 0 {
			wrong++
			c.t.Errorf("fault %d, %s: %s", i+1, r.fault, strings.Join(r.wrong, "; "))
		}
	}
	fmt.Printf("\n| | fault | what | moment | told | the run | wrong |\n|---|---|---|---|---|---|---|\n%s\n", strings.Join(lines, "\n"))
	fmt.Printf("\nseed %d: %d faults, %d with something wrong\n", c.seed, len(c.rows), wrong)
}

// scene is an experiment that is on, and what is known of it.
type scene struct {
	t          *testing.T
	rand       *rand.Rand
	instances  int32
	experiment *v1alpha1.PerfExperiment
	plan       string
	// kept are the results of runs that are done, by the run.
	kept map[string]string
}

// ripe waits for a moment at which the fault can be made; false when the
// experiment is over before.
func (s *scene) ripe(ctx context.Context, f fault) (moment, bool) {
	var found moment
	over := false
	await.Until(ctx, s.t, 15*time.Minute, "a moment for: "+f.name, func() (bool, string) {
		now, err := s.look(ctx)
		if err != nil {
			return false, err.Error()
		}
		found, over = now, now.over()
		return over || now.run() != "" && (!f.loading || now.freshLoad()) && (f.when == nil || f.when(ctx, s)), now.String()
	})
	return found, !over
}

// awaitEnd waits until the experiment is complete, or has stalled with a sentence.
func (s *scene) awaitEnd(ctx context.Context) {
	await.Until(ctx, s.t, 15*time.Minute, "the experiment to come to its end", func() (bool, string) {
		now, err := s.look(ctx)
		if err != nil {
			return false, err.Error()
		}
		return now.over(), now.String()
	})
}

// judge says of each fault what became of the run it hit.
func (s *scene) judge(ctx context.Context, rows []*row) {
	end, err := s.look(ctx)
	expect.NoError(s.t, err)
	last := rows[len(rows)-1]
	last.wrong = append(last.wrong, end.ending()...)
	for _, r := range rows {
		i := slices.IndexFunc(end.runs, func(run v1alpha1.PerfRun) bool { return run.Name == r.run })
		if i < 0 {
			r.wrong = append(r.wrong, "the run "+r.run+" is lost")
			continue
		}
		r.outcome = outcome(end.runs[i])
		if r.spoils && end.runs[i].Status.Phase == v1alpha1.RunSucceeded {
			r.wrong = append(r.wrong, "the run that it hit counts as valid")
		}
	}
}

func outcome(run v1alpha1.PerfRun) string {
	for _, condition := range run.Status.Conditions {
		if condition.Type == v1alpha1.ConditionValid && condition.Status == metav1.ConditionFalse {
			return string(run.Status.Phase) + ": " + condition.Reason
		}
	}
	return string(run.Status.Phase)
}
