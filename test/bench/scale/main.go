// SPDX-License-Identifier: Apache-2.0

// Command scale measures the resources that the operator uses, and its requests to the API
// server, depending on the number of experiments, runs and unrelated pods in a cluster. It runs
// cmd/manager as a process, with a real kube-apiserver and a real etcd. It measures each case
// at one size and at twice that, because growth predicts the cost of a larger cluster. It
// prints a table, and fails if a limit is exceeded. See README.md.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"k8s.io/klog/v2/textlogger"
	ctrl "sigs.k8s.io/controller-runtime"

	"perflab.dev/perflab/internal/testing/apiserver"
)

// knownLimits are the goals and the limits of the project.
//
//go:embed limits.yaml
var knownLimits []byte

// size is the number of objects in the smaller of two clusters.
type size struct {
	demo, demoRuns, folio, folioRuns, pods, events, namespaces int
	// long is the length of the longer of two loads.
	long time.Duration
}

// sizes are the available sizes. The goals apply to the large one. The small one runs for each
// change, and omits slow cases.
var sizes = map[string]size{
	"small":  {demo: 15, demoRuns: 12, folio: 3, folioRuns: 6, pods: 500, events: 5, long: 15 * time.Second},
	"medium": {demo: 50, demoRuns: 12, folio: 25, folioRuns: 12, pods: 10000, events: 5, namespaces: 45, long: 245 * time.Second},
	"large":  {demo: 500, demoRuns: 50, folio: 50, folioRuns: 12, pods: 10000, events: 5, namespaces: 45, long: 245 * time.Second},
}

// bench has the settings of a benchmark.
type bench struct {
	size
	name string
	// each is the number of runs of each demo experiment. If it is 0, the size determines it.
	each     int
	dir      string
	operator string
	// memory is the operator's GOMEMLIMIT. If it is empty, there is no limit.
	memory string
	// patience is the time limit for the operator to become idle.
	patience time.Duration
	// only lists the cases to run. If it is empty, all run.
	only   []string
	starts int
	// flags are additional flags of the operator.
	flags []string
	table table
}

func main() {
	b := &bench{}
	name := flag.String("size", "small", "size: small, medium or large")
	limits := flag.String("limits", "", "file of goals and limits; default: limits.yaml")
	strict := flag.Bool("strict", false, "also fail if a goal is missed")
	only := flag.String("only", "", "only these cases, separated by commas: demo, folio, pods, runs, hostile")
	flag.IntVar(&b.each, "runs", 0, "runs of each demo experiment; default: as the size")
	flag.StringVar(&b.memory, "gomemlimit", "", "GOMEMLIMIT of the operator, for example 256MiB; default: none")
	flag.StringVar(&b.operator, "operator", "", "program to measure; default: build ./cmd/manager")
	flag.DurationVar(&b.patience, "patience", 10*time.Minute, "time limit for the operator to become idle")
	flag.Parse()
	ctrl.SetLogger(textlogger.NewLogger(textlogger.NewConfig()))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := b.prepare(*name, *only, *limits); err != nil {
		fail(err)
	}
	if err := b.run(ctx, *strict); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "bench-scale:", err)
	os.Exit(1)
}

// prepare reads the flags.
func (b *bench) prepare(name, only, limits string) error {
	chosen, known := sizes[name]
	if !known {
		return fmt.Errorf("unknown size %q: choose small, medium or large", name)
	}
	b.size, b.name, b.table.size = chosen, name, name
	b.demoRuns = cmp.Or(b.each, b.demoRuns)
	text := knownLimits
	if limits != "" {
		var err error
		if text, err = os.ReadFile(limits); err != nil {
			return err
		}
	}
	var err error
	if b.table.limits, err = parseLimits(text); err != nil {
		return err
	}
	if only != "" {
		b.only = strings.Split(only, ",")
	}
	return nil
}

// wanted reports whether to measure a case.
func (b *bench) wanted(name string) bool { return len(b.only) == 0 || slices.Contains(b.only, name) }

func (b *bench) run(ctx context.Context, strict bool) (err error) {
	if b.dir, err = os.MkdirTemp("", "bench-scale-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if b.operator == "" {
		b.progress("building the operator")
		if b.operator, err = buildOperator(ctx, apiserver.Root(), b.dir); err != nil {
			return err
		}
	}
	before, began := loadAverage(), time.Now()
	for _, one := range []struct {
		name    string
		measure func(context.Context, *cluster) error
	}{{"demo", b.demos}, {"folio", b.folios}, {"pods", b.unrelatedPods}, {"runs", b.runs}, {"hostile", b.hostile}} {
		if !b.wanted(one.name) {
			continue
		}
		if failed := b.in(ctx, one.name, one.measure); failed != nil {
			err = fmt.Errorf("case %s: %w", one.name, failed)
			break
		}
	}
	// Print the results even after a failure, because they take long to measure.
	b.table.print(os.Stdout, b.title(before, time.Since(began)))
	return errors.Join(err, b.table.verdict(strict))
}

// in measures a case in its own cluster.
func (b *bench) in(ctx context.Context, name string, measure func(context.Context, *cluster) error) error {
	dir := filepath.Join(b.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	b.progress("%s: starting an API server", name)
	c, err := startCluster(ctx, dir)
	if err != nil {
		return err
	}
	if b.table.empty == nil {
		if err := b.nothing(ctx, c); err != nil {
			return errors.Join(err, c.stop())
		}
	}
	return errors.Join(measure(ctx, c), c.stop())
}

// progress prints the current step.
func (b *bench) progress(format string, arguments ...any) {
	fmt.Fprintln(os.Stderr, time.Now().Format(time.TimeOnly), fmt.Sprintf(format, arguments...))
}

// title returns the table's title, which describes the measurement and the machine.
func (b *bench) title(before string, took time.Duration) string {
	memory := "no GOMEMLIMIT"
	if b.memory != "" {
		memory = "GOMEMLIMIT=" + b.memory
	}
	return fmt.Sprintf("Size %s, operator %s, %s; %s; load average %s before and %s after; %s.",
		b.name, commit(), memory, machine(), before, loadAverage(), took.Round(time.Second))
}

// commit returns the commit that was built.
func commit() string {
	describe := exec.Command("git", "describe", "--always", "--abbrev=12", "--dirty")
	describe.Dir = apiserver.Root()
	text, err := describe.Output()
	if err != nil {
		return "of an unknown commit"
	}
	return strings.TrimSpace(string(text))
}
