// SPDX-License-Identifier: Apache-2.0

// Command bench fills a directory with an archive of several years. It measures how perflab
// shows the history of one series, from the directory and from a real S3 server on
// loopback, and how it rebuilds the index.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"perflab.dev/perflab/test/archive/gateway"
)

type options struct {
	size    size
	perflab string
	// directory is the directory to fill, or a directory that is already filled.
	directory string
	tries     int
	// objects is true if the index is also rebuilt from the objects alone.
	objects bool
	strict  bool
}

func main() {
	o := options{}
	flag.StringVar(&o.perflab, "perflab", "", "program to measure")
	flag.StringVar(&o.directory, "dir", "", "directory of the archive, filled if empty, and kept; default: a temporary one")
	flag.IntVar(&o.size.Experiments, "experiments", 400, "experiments in the archive; the full size is 10000")
	flag.IntVar(&o.size.Runs, "runs", 50, "runs of each")
	flag.IntVar(&o.size.Namespaces, "namespaces", 4, "namespaces of the experiments")
	flag.IntVar(&o.size.Series, "series", 16, "series of a namespace; the first has 40 % of its experiments")
	flag.IntVar(&o.size.Observations, "observations", 8, "observations of a run")
	flag.IntVar(&o.size.Deep, "deep", 400, "observations of a run of the reported series")
	flag.IntVar(&o.size.Modules, "modules", 60, "modules of a system of that series; others have one thirtieth")
	flag.IntVar(&o.tries, "tries", 3, "how often each history is shown; the slowest counts")
	flag.BoolVar(&o.objects, "from-objects", false, "also delete all references and rebuild them from the objects")
	flag.BoolVar(&o.strict, "strict", false, "fail if a goal is missed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench-archive:", err)
		stop()
		os.Exit(1)
	}
}

const (
	bucketName = "perflab"
	prefix     = "archive"
	access     = "a-bench's-access-key"
	secret     = "a-bench's-secret-key"
)

var errMissed = errors.New("a goal is missed")

func run(ctx context.Context, o options) error {
	if o.perflab == "" {
		return errors.New("-perflab is missing: set the program, for example -perflab bin/perflab")
	}
	if o.directory == "" {
		made, err := os.MkdirTemp("", "perflab-bench-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(made) }()
		o.directory = made
	}
	// Versity's buckets are the directories of its root: both variants read the same files.
	root := filepath.Join(o.directory, "s3", bucketName, prefix)
	filled, err := filledOnce(ctx, o, root)
	if err != nil {
		return err
	}
	server, err := gateway.Start(filepath.Join(o.directory, "s3"), filepath.Join(o.directory, "attributes"), access, secret)
	if err != nil {
		return err
	}
	defer server.Stop()
	found, err := measure(ctx, o, root, server.Address)
	if err != nil {
		return err
	}
	found.filled = filled
	found.write(os.Stdout)
	if missed := found.missed(); o.strict && len(missed) > 0 {
		return fmt.Errorf("%w: %s", errMissed, missed[0])
	}
	return nil
}

// filledOnce fills the directory unless it is already filled. It returns the duration.
func filledOnce(ctx context.Context, o options, root string) (time.Duration, error) {
	note := filepath.Join(o.directory, "size.json")
	want, err := json.Marshal(o.size)
	if err != nil {
		return 0, err
	}
	if known, err := os.ReadFile(note); err == nil {
		if string(known) != string(want) {
			return 0, fmt.Errorf("%s has an archive of another size, %s: name another directory", o.directory, known)
		}
		return 0, nil
	}
	began := time.Now()
	err = fill(ctx, root, o.size, func(done int) {
		fmt.Fprintf(os.Stderr, "%d of %d experiments after %s\n", done, o.size.Experiments, time.Since(began).Round(time.Second))
	})
	if err != nil {
		return 0, fmt.Errorf("filling: %w", err)
	}
	return time.Since(began), os.WriteFile(note, want, 0o600)
}
