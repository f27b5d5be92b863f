// SPDX-License-Identifier: Apache-2.0

// Command ci runs the project's checks: those that every change needs, and of the slow ones those
// that a change may have broken or whose last run is the oldest. hack/ci/checks.yaml lists them.
// Run it from the project's root.
//
//	ci plan    show which checks would run, and why
//	ci run     run them; the exit code is 1 if a check failed
//	ci times   show how long each check and each slow test last took here
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	tier   string
	all    bool
	base   string
	budget time.Duration
	only   string
	cache  string
}

func main() {
	if err := command(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "ci:", err)
		os.Exit(1)
	}
}

func command(arguments []string, out io.Writer) error {
	if len(arguments) == 0 {
		return fmt.Errorf("missing command: plan, run or times")
	}
	o := &options{}
	flags := flag.NewFlagSet("ci "+arguments[0], flag.ContinueOnError)
	flags.StringVar(&o.tier, "tier", string(tierLanding), "test: quick checks without a cluster; landing: what a landing runs")
	flags.BoolVar(&o.all, "all", false, "run every check")
	flags.StringVar(&o.base, "base", os.Getenv("BASE"), "commit at which all checks passed; default: for each check, the last commit at which it passed on this machine")
	flags.DurationVar(&o.budget, "budget", 10*time.Minute, "time for the slow checks that take turns")
	flags.StringVar(&o.only, "only", "", "names of the checks to run, separated by commas")
	flags.StringVar(&o.cache, "cache", os.Getenv("PERFLAB_CACHE"), "directory of records and logs")
	if err := flags.Parse(arguments[1:]); err != nil {
		return err
	}
	if o.cache == "" {
		return fmt.Errorf("-cache or PERFLAB_CACHE must name a directory; make sets it")
	}
	read, err := readCatalogue("hack/ci/checks.yaml")
	if err != nil {
		return err
	}
	switch arguments[0] {
	case "plan":
		_, _, err := o.plan(read.Checks, out)
		return err
	case "run":
		return o.run(read.Checks, out)
	case "times":
		return o.times(read, out)
	default:
		return fmt.Errorf("unknown command %q: use plan, run or times", arguments[0])
	}
}

func (o *options) directory() string { return filepath.Join(o.cache, "ci") }

// decide reads the records and decides which checks run.
func (o *options) decide(checks []check) ([]decision, *records, error) {
	records, err := readRecords(filepath.Join(o.directory(), "passed.json"))
	if err != nil {
		return nil, nil, err
	}
	if o.only != "" {
		chosen, err := o.named(checks)
		return chosen, records, err
	}
	if o.tier != string(tierTest) && o.tier != string(tierLanding) {
		return nil, nil, fmt.Errorf("unknown tier %q: use test or landing", o.tier)
	}
	if o.tier == string(tierTest) {
		checks = slices.DeleteFunc(slices.Clone(checks), func(c check) bool { return c.Tier != tierTest })
	}
	s, err := observe(checks, records, o.base)
	if err != nil {
		return nil, nil, err
	}
	s.budget, s.all = o.budget, o.all
	return plan(checks, s), records, nil
}

// named returns the checks with the given names.
func (o *options) named(checks []check) ([]decision, error) {
	var chosen []decision
	for name := range strings.SplitSeq(o.only, ",") {
		at := slices.IndexFunc(checks, func(c check) bool { return c.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("unknown check %q: choose from %s", name, names(checks))
		}
		chosen = append(chosen, decision{&checks[at], true, "selected by name"})
	}
	return chosen, nil
}

func names(checks []check) string {
	var found []string
	for _, c := range checks {
		found = append(found, c.Name)
	}
	return strings.Join(found, ", ")
}

// plan decides which checks run, and prints why.
func (o *options) plan(checks []check, out io.Writer) ([]decision, *records, error) {
	decisions, records, err := o.decide(checks)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range decisions {
		does := "run "
		if !d.run {
			does = "skip"
		}
		_, _ = fmt.Fprintf(out, "%s %-14s %6s  %s\n", does, d.check.Name, expected(d.check, records.Passed), d.why)
	}
	return decisions, records, nil
}

func (o *options) run(checks []check, out io.Writer) error {
	decisions, records, err := o.plan(checks, out)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r := &runner{ctx: ctx, out: out, logs: filepath.Join(o.directory(), "logs"), records: records, started: time.Now(), limit: longest}
	if err := os.MkdirAll(r.logs, 0o755); err != nil {
		return err
	}
	r.run(decisions)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return r.summary(decisions)
}

// summary shows how long each check took, what was skipped, and what failed.
func (r *runner) summary(decisions []decision) error {
	count := map[string]int{}
	for _, ended := range r.results {
		count[ended.outcome()]++
		if ended.outcome() == "FAILED" {
			_, _ = fmt.Fprintf(r.out, "\n=== %s failed (%v); the end of its log:\n%s", ended.check.Name, ended.err, tail(ended.log, 80))
		}
	}
	_, _ = fmt.Fprintf(r.out, "\n=== checks, %s\n", round(time.Since(r.started)))
	for _, ended := range r.results {
		_, _ = fmt.Fprintf(r.out, "%-12s %-15s %6s\n", ended.outcome(), ended.check.Name, round(ended.took))
	}
	for _, d := range decisions {
		if !d.run {
			_, _ = fmt.Fprintf(r.out, "%-12s %-15s %s\n", "not run", d.check.Name, d.why)
		}
	}
	// The excerpt that is kept of a long output often has its end only.
	for _, ended := range r.results {
		if ended.outcome() == "FAILED" {
			_, _ = fmt.Fprintf(r.out, "%s ended with:\n%s", ended.check.Name, tail(ended.log, 8))
		}
	}
	passed, failed := count["passed"], count["FAILED"]
	_, _ = fmt.Fprintf(r.out, "checks: %d passed, %d failed, %d skipped\n", passed, failed, len(decisions)-passed-failed)
	if failed > 0 {
		return fmt.Errorf("%d of %d checks failed", failed, len(r.results))
	}
	return nil
}

// tail are the last lines of a file.
func tail(file string, most int) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error() + "\n"
	}
	lines := slices.Collect(strings.Lines(string(text)))
	return strings.Join(lines[max(0, len(lines)-most):], "")
}
