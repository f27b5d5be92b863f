// SPDX-License-Identifier: Apache-2.0

// Command k6 measures the cost of PerfLab's k6 output, compared to no output and to k6's own
// outputs. In each round every output has one turn, in random order: a k6 process, alone on one
// CPU, runs a fixed number of iterations without pauses. The server has another CPU. The main
// result is the CPU time of an iteration, as a ratio to the turn without output in the same
// round. Other load on the machine slows both turns, but costs elapsed time, not CPU time.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

// fewest is the minimum number of rounds for an interval.
const fewest = 6

func main() {
	b := bench{}
	flag.StringVar(&b.k6, "k6", "bin/k6", "k6 with PerfLab's output")
	flag.IntVar(&b.rounds, "rounds", 0, "rounds per output; 0: as many as fit into the time")
	flag.DurationVar(&b.time, "time", 9*time.Minute, "time after which no round starts, once there are six")
	flag.IntVar(&b.warmUp, "warm-up", 150, "warm-up iterations")
	flag.IntVar(&b.iterations, "iterations", 500, "iterations measured")
	flag.IntVar(&b.users, "users", 20, "virtual users")
	flag.Uint64Var(&b.seed, "seed", 1, "of the order")
	outputs := flag.String("outputs", "", "outputs to compare with none, separated by commas")
	flag.Parse()
	if *outputs != "" {
		b.outputs = strings.Split(*outputs, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := b.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench-k6:", err)
		stop()
		os.Exit(1)
	}
}

// bench has the settings of a benchmark.
type bench struct {
	k6                        string
	rounds                    int
	time                      time.Duration
	warmUp, iterations, users int
	seed                      uint64
	outputs                   []string // all if empty
	cpus                      cpus
}

// candidate is a k6 output.
type candidate struct {
	name string
	out  string   // value of --out, "" for none
	env  []string // additional environment
}

const (
	without     = "none"
	ours        = "perflab"
	remoteWrite = "experimental-prometheus-rw"
)

func (b bench) run(ctx context.Context) error {
	var err error
	if b.cpus, err = pin(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-k6-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	target, err := startTarget()
	if err != nil {
		return err
	}
	defer target.stop()
	if !b.wants(remoteWrite) {
		return b.compare(ctx, dir, b.candidates(""), target, nothing)
	}
	prometheus, err := startPrometheus(ctx, dir)
	if err != nil {
		return err
	}
	defer prometheus.stop()
	return b.compare(ctx, dir, b.candidates(prometheus.url), target, prometheus.received)
}

func nothing(context.Context) error { return nil }

func (b bench) wants(output string) bool {
	return len(b.outputs) == 0 || output == without || slices.Contains(b.outputs, output)
}

func (b bench) candidates(prometheus string) []candidate {
	return slices.DeleteFunc([]candidate{
		{name: without},
		{name: ours, out: "perflab", env: []string{"PERFLAB_LOAD=bench", "PERFLAB_RUN=bench"}},
		{name: "json", out: "json=/dev/null"},
		{name: "csv", out: "csv=/dev/null"},
		{name: remoteWrite, out: remoteWrite, env: []string{"K6_PROMETHEUS_RW_SERVER_URL=" + prometheus + "/api/v1/write"}},
	}, func(c candidate) bool { return !b.wants(c.name) })
}

// compare runs every candidate's turns, checks the received samples, and returns the verdict.
func (b bench) compare(ctx context.Context, dir string, candidates []candidate, t *target, check func(context.Context) error) error {
	from := loadAverage()
	runs, err := b.rotate(ctx, dir, candidates, t)
	if err != nil {
		return err
	}
	if err := check(ctx); err != nil {
		return err
	}
	fmt.Printf("%d rounds of %d iterations by %d users; load average %s before, %s after\n",
		len(runs[without]), b.iterations, b.users, from, loadAverage())
	printTable(os.Stdout, candidates, runs)
	if runs[ours] == nil {
		return nil
	}
	return verdict(candidates, runs)
}

func (b bench) rotate(ctx context.Context, dir string, candidates []candidate, t *target) (map[string][]turn, error) {
	runs := map[string][]turn{}
	random, began := rand.New(rand.NewPCG(b.seed, 0)), time.Now()
	for round := 0; b.more(round, time.Since(began)); round++ {
		for _, i := range random.Perm(len(candidates)) {
			c := candidates[i]
			taken, err := b.take(ctx, dir, c, t)
			if err != nil {
				return nil, err
			}
			runs[c.name] = append(runs[c.name], taken)
		}
		fmt.Fprintf(os.Stderr, "\rround %d, %v", round+1, time.Since(began).Round(time.Second))
	}
	fmt.Fprintln(os.Stderr)
	return runs, nil
}

// more reports whether to run another round.
func (b bench) more(done int, passed time.Duration) bool {
	if b.rounds > 0 {
		return done < b.rounds
	}
	return done < fewest || passed < b.time
}

// loadAverage returns the load averages of the last one, five and fifteen minutes.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:3], ", ")
}
