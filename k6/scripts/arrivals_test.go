// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/k6/internal/k6test"
)

// arrivals counts the due iterations of 20 users: 10 minutes at 120 per minute, and then 10 at
// 600. It counts them per second, and those of a user who is busy until the second stage.
const arrivals = `
import { Counter } from 'k6/metrics';
import { Arrivals } from 'LIB/arrivals.js';
import { generator } from 'LIB/random.js';

export const options = { vus: 1, iterations: 1 };
const stages = [{ duration: '600000ms', target: 120 }, { duration: '600000ms', target: 600 }];
const users = 20;
const counter = (name) => new Counter(name);
const [slow, fast, squares, waits, lateness] = ['slow', 'fast', 'squares', 'waits', 'lateness'].map(counter);

export default function () {
  const seconds = new Array(1200).fill(0);
  for (let user = 1; user <= users; user++) {
    const own = new Arrivals({ stages, users, user, distribution: 'DISTRIBUTION', random: generator('7/' + user) });
    for (let found = own.next(); found; found = own.next()) seconds[Math.floor(found.due)]++;
  }
  seconds.forEach((count, second) => {
    (second < 600 ? slow : fast).add(count);
    if (second >= 600) squares.add(count * count);
  });
  const busy = { stages, users: 1, user: 1, distribution: 'Even', random: generator('7') };
  let clock = 599000;
  const late = new Arrivals(busy, (waited) => { clock += 1000 * waited; waits.add(1); }, () => clock);
  // What is due every half second until 599 s is late by almost 600 s; one more of the stage, and the next stage begins.
  lateness.add(late.await(0));
  clock = 601000;
  lateness.add(late.await(0));
}
`

func TestArrivalsAreRandomOrEven(t *testing.T) {
	t.Parallel()
	lib, err := filepath.Abs("lib")
	k6test.NoError(t, err)
	for distribution, isSpread := range map[string]func(index float64) bool{
		// The variance of Poisson counts is their mean.
		"Poisson": func(index float64) bool { return math.Abs(index-1) < 0.25 },
		"Even":    func(index float64) bool { return index < 0.02 },
	} {
		t.Run(distribution, func(t *testing.T) {
			script := k6test.Script(t, strings.NewReplacer("LIB", "file://"+lib, "DISTRIBUTION", distribution).Replace(arrivals))
			result := k6test.Run(t, script, environment("http://unused"))
			if result.Code != 0 {
				t.Fatalf("exit code %d\n%s", result.Code, result.Stderr)
			}
			p := result.Payload(t)
			slow, fast := p.Total("slow"), p.Total("fast")
			if math.Abs(slow-1200) > 4*math.Sqrt(1200) || math.Abs(fast-6000) > 4*math.Sqrt(6000) {
				t.Errorf("%v and %v arrivals, want 1200 and 6000", slow, fast)
			}
			mean := fast / 600
			if index := (p.Total("squares")/600 - mean*mean) / mean; !isSpread(index) {
				t.Errorf("the variance of arrivals in a second is %.3f of their mean", index)
			}
			// The second arrival is in the second stage, which started 1 s ago.
			if late := p.Total("lateness"); late < 598000 || late > 600100 || p.Total("waits") != 0 {
				t.Errorf("%v ms late with %v waits, want the first 599 s and the second at most 1 s", late, p.Total("waits"))
			}
		})
	}
}

// An open load keeps its rate while responses are slow, and durations count from when a
// transaction is due.
func TestOpenLoadHoldsItsRate(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 500, 30)
	result := k6test.Run(t, cico, environment(l.URL, "USERS=30", "DURATION_SECONDS=12", "THINK_TIME_SECONDS=0", "ARRIVALS_PER_MINUTE=300", "ARRIVALS_DISTRIBUTION=Even"))
	if result.Code != 0 {
		t.Fatalf("exit code %d\n%s", result.Code, result.Stderr)
	}
	p := result.Payload(t)
	if made := counted(t, p, "Check-In", "ok") + counted(t, p, "Check-Out", "ok"); made < 54 || made > 61 {
		t.Errorf("%d transactions in 12 s, want 60", made)
	}
}

// One user cannot make two transactions per second that take half a second each, with pauses. The
// waiting transactions are late, and their durations show it.
func TestLateTransactionsCountFromWhenTheyAreDue(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 100, 10)
	result := k6test.Run(t, cico, environment(l.URL, "USERS=1", "DURATION_SECONDS=10", "THINK_TIME_SECONDS=1", "ARRIVALS_PER_MINUTE=120", "ARRIVALS_DISTRIBUTION=Even", "CHECK_IN_PERCENT=0"))
	p := result.Payload(t)
	made, late := counted(t, p, "Check-Out", "ok"), p.Total("perflab_late_iterations")
	slowest, _ := p.Summary("Check-Out", "ok")
	if result.Code != 0 || made < 6 || late < float64(made)-2 || slowest.Max < 3*time.Second {
		t.Errorf("exit code %d, %d transactions, %v of them late, the slowest %s\n%s", result.Code, made, late, slowest.Max, result.Stderr)
	}
}

// The stages of the operator replace users and ramp-up.
func TestUsersFollowStages(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 100, 10)
	stages := fmt.Sprintf(`PERFLAB_STAGES=[{"duration":"0ms","target":%d},{"duration":"3000ms","target":%d},{"duration":"1000ms","target":%d},{"duration":"3000ms","target":%d}]`, 2, 2, 5, 5)
	result := k6test.Run(t, cico, environment(l.URL, "USERS=8", "DURATION_SECONDS=7", "THINK_TIME_SECONDS=0.1", stages))
	if result.Code != 0 || len(l.came) != 1+5 {
		t.Fatalf("exit code %d, %d logins, want one of setup and 5 of users\n%s", result.Code, len(l.came), result.Stderr)
	}
	if second, third := l.came[2].Sub(l.came[1]), l.came[3].Sub(l.came[1]); second > time.Second || third < 2*time.Second || third > 5*time.Second {
		t.Errorf("the second user came after %s and the third after %s, want at once and about 3.3 s", second, third)
	}
}
