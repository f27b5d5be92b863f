// SPDX-License-Identifier: Apache-2.0

// Command k6 measures what PerfLab's k6 output costs, against no output and
// against outputs that k6 brings along. One k6 for each lets the same users make
// the same requests to a server on this machine as fast as they can. They take
// turns of a few seconds, held by the kernel between them, round by round: what
// else the machine does then meets all of them alike.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

// enough is the share of the rate without output that ours has to keep.
const enough = 0.95

func main() {
	b := bench{}
	flag.StringVar(&b.k6, "k6", "bin/k6", "k6 with PerfLab's output")
	flag.IntVar(&b.rounds, "rounds", 20, "turns that each output has")
	flag.DurationVar(&b.turn, "turn", 2500*time.Millisecond, "length of a turn")
	flag.IntVar(&b.users, "users", 20, "virtual users")
	outputs := flag.String("outputs", "", "only these besides none, separated by commas")
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

// bench is what is to be measured.
type bench struct {
	k6      string
	rounds  int
	turn    time.Duration
	users   int
	outputs []string // all if empty
}

// candidate is a k6 output.
type candidate struct {
	name string
	out  string   // of --out, "" for none
	env  []string // more of it
}

const (
	without     = "none"
	ours        = "perflab"
	remoteWrite = "experimental-prometheus-rw"
)

func (b bench) run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "bench-k6-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	prometheus, err := startPrometheus(ctx, dir)
	if err != nil {
		return err
	}
	defer prometheus.stop()
	target, err := startTarget()
	if err != nil {
		return err
	}
	defer target.stop()
	candidates := []candidate{
		{name: without},
		{name: ours, out: "perflab", env: []string{"PERFLAB_LOAD=bench", "PERFLAB_RUN=bench"}},
		{name: "json", out: "json=/dev/null"},
		{name: "csv", out: "csv=/dev/null"},
		{
			name: remoteWrite, out: remoteWrite,
			env: []string{"K6_PROMETHEUS_RW_SERVER_URL=" + prometheus.url + "/api/v1/write"},
		},
	}
	candidates = slices.DeleteFunc(candidates, func(c candidate) bool {
		return len(b.outputs) > 0 && c.name != without && !slices.Contains(b.outputs, c.name)
	})
	runs, err := b.rotate(ctx, dir, candidates, target)
	if err != nil {
		return err
	}
	if runs[remoteWrite] != nil {
		if err := prometheus.received(ctx); err != nil {
			return err
		}
	}
	printTable(os.Stdout, candidates, runs)
	if runs[ours] == nil {
		return nil
	}
	return verdict(runs)
}

// rotate lets every candidate have its turns.
func (b bench) rotate(ctx context.Context, dir string, candidates []candidate, t *target) (map[string]*measured, error) {
	runs := map[string]*measured{}
	var generators []*generator
	for _, c := range candidates {
		g, err := b.start(ctx, dir, c, t.url)
		if err != nil {
			return nil, err
		}
		defer g.kill()
		if err := errors.Join(sleep(ctx, warmUp), g.hold()); err != nil {
			return nil, err
		}
		generators = append(generators, g)
		runs[c.name] = &measured{}
	}
	for round := range b.rounds {
		for i := range generators {
			// Each round begins with another one, so that none always follows the same.
			g := generators[(i+round)%len(generators)]
			if err := b.record(ctx, g, t, runs[g.name]); err != nil {
				return nil, err
			}
		}
		fmt.Fprintf(os.Stderr, "\rround %d of %d", round+1, b.rounds)
	}
	fmt.Fprintln(os.Stderr)
	for _, g := range generators {
		var err error
		if runs[g.name].peak, err = g.end(); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

func (b bench) record(ctx context.Context, g *generator, t *target, m *measured) error {
	taken, err := b.take(ctx, g, t)
	if err != nil {
		return err
	}
	m.turns = append(m.turns, taken)
	if m.late, err = g.resident(); err != nil {
		return err
	}
	if 3*len(m.turns) <= b.rounds+2 {
		m.early = m.late
	}
	return nil
}
