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
	// faultsEach is how many faults hit one experiment: enough that faults overlap,
	// few enough that the experiment completes.
	faultsEach = 20
	// recovery is the time limit for recovering from a fault.
	recovery = 3 * time.Minute
	// underLoad is the longest time after the start of a load at which a fault still
	// hits it. The load takes 25 s.
	underLoad = 12 * time.Second
)

// TestChaos breaks a cluster at random moments while experiments are running. Faults of the node
// and its processes need the local provider. After each fault, it checks that a condition reports the fault and that the
// recorded state is right.
//
//	CHAOS_FAULTS  number of faults, 10 by default
//	CHAOS_SEED    order and moments of an earlier test
//	CHAOS_ONLY    only faults whose names contain this
//	CHAOS_CLOCK   also moves the clock of this machine
func TestChaos(t *testing.T) {
	c := &chaos{t: t, faults: intVariable(t, "CHAOS_FAULTS", 10), seed: intVariable(t, "CHAOS_SEED", time.Now().Unix())}
	t.Logf("CHAOS_SEED=%d does the same again", c.seed)
	c.rand = rand.New(rand.NewPCG(uint64(c.seed), 0))
	c.local = labelled(t.Context(), t, corev1.LabelInstanceTypeStable, "local")
	if len(c.selectedFaults()) == 0 {
		t.Fatalf("CHAOS_ONLY=%q chooses none of the faults. They are: %s", os.Getenv("CHAOS_ONLY"), strings.Join(faultNames(), ", "))
	}
	if c.local {
		c.boundVolumes()
	}
	t.Cleanup(c.print)
	for experiments := 0; len(c.results) < int(c.faults); experiments++ {
		c.experiment(experiments)
	}
}

// boundVolumes gives volumes a size, so that they can be filled. Volumes of earlier
// tests must be deleted first.
func (c *chaos) boundVolumes() {
	ctx := c.t.Context()
	await.Until(ctx, c.t, time.Minute, "all volumes to be deleted", func() (bool, string) {
		list := &corev1.PersistentVolumeList{}
		expect.NoError(c.t, cluster.List(ctx, list), "listing volumes")
		return len(list.Items) == 0, fmt.Sprintf("%d volumes", len(list.Items))
	})
	if err := runScript(ctx, "break.sh", "bound-volumes", "3072"); err != nil {
		c.t.Logf("NOT TESTED: full volumes, because volumes have no limit here: %v", err)
		c.unbounded = true
	}
}

func intVariable(t *testing.T, variable string, otherwise int64) int64 {
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

// chaos is one test.
type chaos struct {
	t      *testing.T
	faults int64
	seed   int64
	rand   *rand.Rand
	// local is true if the cluster is one of the local provider.
	local bool
	// unbounded is true if volumes use the machine's disk, which the test cannot fill.
	unbounded bool
	// pending are the faults of this round. Each fault happens once per round.
	pending []fault
	results []*result
}

// result is an injected fault and its effect.
type result struct {
	fault string
	// hit is the object that the fault hit.
	hit string
	// phase is the phase of the experiment at that time.
	phase string
	// invalidates is true if the run that the fault hit must be invalid.
	invalidates bool
	// run is the active run, and outcome is its outcome.
	run     string
	outcome string
	// reported is the message for the user, with its delay.
	reported string
	// wrong lists violations.
	wrong []string
}

// nextFault returns the next fault. Each fault happens once before any is repeated.
func (c *chaos) nextFault() fault {
	if len(c.pending) == 0 {
		c.pending = c.selectedFaults()
		c.rand.Shuffle(len(c.pending), func(i, j int) { c.pending[i], c.pending[j] = c.pending[j], c.pending[i] })
	}
	next := c.pending[0]
	c.pending = c.pending[1:]
	return next
}

// randomDuration returns a random duration between least and most.
func (c *chaos) randomDuration(least, most time.Duration) time.Duration {
	return least + time.Duration(c.rand.Int64N(int64(most-least)+1))
}

// experiment creates an experiment, injects faults, waits until it completes and deletes
// it. Every second experiment has a replica of PostgreSQL.
func (c *chaos) experiment(n int) {
	ctx := c.t.Context()
	instances := int32(1 + n%2)
	s := &subject{t: c.t, rand: c.rand, instances: instances, finished: map[string]string{}}
	s.experiment = apply(c.t, namespace(c.t), "testdata/chaos.yaml", func(e *v1alpha1.PerfExperiment) {
		e.Spec.System.Postgres.Instances = instances
	})
	first := len(c.results)
	for range faultsEach {
		if len(c.results) == int(c.faults) || !c.inject(ctx, s) {
			break
		}
	}
	s.awaitEnd(ctx)
	s.recordOutcomes(ctx, c.results[first:])
	assertDeletion(ctx, c.t, s.experiment)
}

// inject injects one fault and checks its effect. It returns false when the
// experiment has finished.
func (c *chaos) inject(ctx context.Context, s *subject) bool {
	next, wait, lasts := c.nextFault(), c.randomDuration(0, 10*time.Second), time.Duration(0)
	if next.lasts != nil {
		lasts = next.lasts(c)
	}
	pause(ctx, wait)
	before, ok := s.awaitMoment(ctx, next)
	if !ok {
		c.pending = append(c.pending, next)
		return false
	}
	r := &result{fault: next.name, phase: before.phase(), run: before.run(), invalidates: next.invalidates && before.freshLoad()}
	c.results = append(c.results, r)
	hit, heal, err := next.inject(ctx, s)
	expect.NoError(c.t, err, "%s", next.name)
	r.hit = strings.TrimSpace(hit + " " + formatDuration(lasts))
	c.watch(ctx, s, next, r, before, lasts, heal)
	r.wrong = append(r.wrong, s.check(ctx)...)
	c.t.Logf("%d/%d %s", len(c.results), c.faults, r)
	return true
}

func formatDuration(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return "for " + d.Round(time.Second).String()
}

// watch observes the experiment until the fault is healed. It then waits until a condition
// has reported the fault, the experiment has progressed, or the time limit has passed.
func (c *chaos) watch(ctx context.Context, s *subject, f fault, r *result, before snapshot, lasts time.Duration, heal func(context.Context) error) {
	struck, healed := time.Now(), time.Time{}
	for {
		pause(ctx, time.Second)
		if healed.IsZero() && time.Since(struck) >= lasts {
			expect.NoError(c.t, heal(ctx), "healing after %q", f.name)
			healed = time.Now()
		}
		now, err := s.observe(ctx)
		if err != nil {
			if !healed.IsZero() && time.Since(healed) > recovery {
				c.t.Fatalf("%s after it was over: %v", recovery, err)
			}
			continue
		}
		if r.reported == "" {
			r.reported = now.report(f, before, time.Since(struck))
		}
		if healed.IsZero() {
			continue
		}
		if f.reported == nil && now.progressed(before) {
			return
		}
		if r.reported != "" || f.overdue(struck, healed) {
			r.wrong = append(r.wrong, unreported(r, before, now)...)
			return
		}
	}
}

// unreported returns problems that no condition reports.
func unreported(r *result, before, now snapshot) []string {
	switch {
	case r.reported != "":
		return nil
	case r.invalidates:
		return []string{fmt.Sprintf("no condition names it after %s; seen: %s", patience, now)}
	case !now.progressed(before) && now.waitingFor() != "":
		// An earlier fault is still active, and was reported when it was injected.
		r.reported = "– (still " + now.waitingFor() + ")"
		return nil
	case !now.progressed(before):
		return []string{fmt.Sprintf("no progress and no condition gives the cause; state: %s", now)}
	default:
		r.reported = "– (" + now.phase() + ": " + now.experiment.Status.WaitingFor + ")"
		return nil
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func (r *result) String() string {
	cells := []string{r.fault, r.hit, r.phase, cmp.Or(r.reported, "–"), r.outcome, strings.Join(r.wrong, "; ")}
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(cell, "|", "/")
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

// print writes the table of results, even if the test was interrupted.
func (c *chaos) print() {
	var lines []string
	wrong := 0
	for i, r := range c.results {
		lines = append(lines, fmt.Sprintf("| %d %s", i+1, r))
		if len(r.wrong) > 0 {
			wrong++
			c.t.Errorf("fault %d, %s: %s", i+1, r.fault, strings.Join(r.wrong, "; "))
		}
	}
	fmt.Printf("\n| | fault | object | moment | reported | run | wrong |\n|---|---|---|---|---|---|---|\n%s\n", strings.Join(lines, "\n"))
	fmt.Printf("\nseed %d: %d faults, %d with something wrong\n", c.seed, len(c.results), wrong)
}

// subject is a running experiment and its expected state.
type subject struct {
	t          *testing.T
	rand       *rand.Rand
	instances  int32
	experiment *v1alpha1.PerfExperiment
	plan       string
	// finished are the results of finished runs, by run.
	finished map[string]string
}

// awaitMoment waits for a moment at which the fault can be injected. It returns
// false when the experiment finishes first.
func (s *subject) awaitMoment(ctx context.Context, f fault) (snapshot, bool) {
	var found snapshot
	done := false
	await.Until(ctx, s.t, 15*time.Minute, "a moment for: "+f.name, func() (bool, string) {
		now, err := s.observe(ctx)
		if err != nil {
			return false, err.Error()
		}
		found, done = now, now.done()
		return done || now.run() != "" && (!f.loading || now.freshLoad()) && (f.when == nil || f.when(ctx, s)), now.String()
	})
	return found, !done
}

// awaitEnd waits until the experiment is complete, or stalled with a message.
func (s *subject) awaitEnd(ctx context.Context) {
	await.Until(ctx, s.t, 15*time.Minute, "the experiment to finish", func() (bool, string) {
		now, err := s.observe(ctx)
		if err != nil {
			return false, err.Error()
		}
		return now.done(), now.String()
	})
}

// recordOutcomes sets the outcome of the run that each fault hit.
func (s *subject) recordOutcomes(ctx context.Context, results []*result) {
	end, err := s.observe(ctx)
	expect.NoError(s.t, err)
	last := results[len(results)-1]
	last.wrong = append(last.wrong, end.endProblems()...)
	for _, r := range results {
		i := slices.IndexFunc(end.runs, func(run v1alpha1.PerfRun) bool { return run.Name == r.run })
		if i < 0 {
			r.wrong = append(r.wrong, "the run "+r.run+" is lost")
			continue
		}
		r.outcome = outcome(end.runs[i])
		if r.invalidates && end.runs[i].Status.Phase == v1alpha1.RunSucceeded {
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
