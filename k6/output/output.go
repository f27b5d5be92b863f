// SPDX-License-Identifier: AGPL-3.0-only

// Package output is the k6 output "perflab". It records the measurements of a test as histograms
// and sums per time bucket, in memory that does not grow with the number of samples. It prints
// them to stdout as payloads (package perflab.dev/perflab/payload): checkpoints while the test
// runs, and a final payload when it ends, whether by itself, through the REST API or by a signal.
// Between them, it prints progress lines.
//
// "--out perflab=checkpoint=30s,progress=10s" sets the times between checkpoints and between
// progress lines. The names in the payload come from the environment: PERFLAB_LOAD, PERFLAB_RUN
// and, if the host name is unsuitable, PERFLAB_RUNNER. PERFLAB_TRANSACTIONS defines the
// transactions of a script.
package output

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	"go.k6.io/k6/v2/metrics"
	"go.k6.io/k6/v2/output"
)

const (
	// progressInterval is the interval of checks for due output.
	progressInterval = 200 * time.Millisecond
	// cpuInterval is the interval of CPU time measurements.
	cpuInterval = time.Second
	// maxBytes is the limit of the final compressed payload, maxCheckpointBytes of earlier
	// ones.
	maxBytes           = 512 << 10
	maxCheckpointBytes = 32 << 10
)

func init() { output.RegisterExtension("perflab", New) }

// Output collects samples and prints payloads. It adds up samples as they arrive, so that
// none outlives the call: retained samples would burden the garbage collector and leave the
// CPU's caches.
type Output struct {
	log     logrus.FieldLogger
	stdout  io.Writer
	config  config
	flusher *output.PeriodicFlusher

	// busy guards the fields below. A checkpoint holds it. Samples that arrive meanwhile are
	// buffered, because k6 and its users would otherwise wait.
	busy      sync.Mutex
	waiting   output.SampleBuffer
	recorder  *recorder
	generator cpuGauge
	// The times of the next reports. They are set at the first sample, before which there is
	// nothing to report.
	nextCheckpoint, nextProgress time.Time
}

// New returns the output. It fails if the configuration is malformed.
func New(params output.Params) (output.Output, error) {
	config, err := parseConfig(params.ConfigArgument)
	if err != nil {
		return nil, err
	}
	transactions, err := parseTransactions(params.Environment["PERFLAB_TRANSACTIONS"])
	if err != nil {
		return nil, err
	}
	load, run := params.Environment["PERFLAB_LOAD"], params.Environment["PERFLAB_RUN"]
	return &Output{
		log:      params.Logger,
		stdout:   params.StdOut,
		config:   config,
		recorder: newRecorder(load, run, runnerName(params), transactions),
	}, nil
}

// runnerName distinguishes the runners of a test, including those on one host.
func runnerName(params output.Params) string {
	name := params.Environment["PERFLAB_RUNNER"]
	if name == "" {
		// A host name is optional.
		name, _ = os.Hostname()
	}
	if segment := params.ScriptOptions.ExecutionSegment; segment != nil {
		name += " " + segment.String()
	}
	return name
}

// Description returns what k6 prints about the output.
func (o *Output) Description() string {
	return fmt.Sprintf("perflab (checkpoint every %s)", o.config.checkpoint)
}

// Start starts collecting samples.
func (o *Output) Start() error {
	flusher, err := output.NewPeriodicFlusher(progressInterval, o.flush)
	if err != nil {
		return fmt.Errorf("starting output perflab: %w", err)
	}
	o.flusher = flusher
	return nil
}

// AddMetricSamples adds samples. k6 calls it with all samples of the last 50 ms, from one
// goroutine.
func (o *Output) AddMetricSamples(containers []metrics.SampleContainer) {
	if !o.busy.TryLock() {
		o.waiting.AddMetricSamples(containers)
		return
	}
	defer o.busy.Unlock()
	o.drain()
	o.add(containers)
}

// drain adds the buffered samples, which are older.
func (o *Output) drain() { o.add(o.waiting.GetBufferedSamples()) }

func (o *Output) add(containers []metrics.SampleContainer) {
	for _, container := range containers {
		o.recorder.add(container)
	}
}

// Stop prints the final payload. k6 calls it regardless of how the test ends.
func (o *Output) Stop() error {
	o.flusher.Stop()
	o.busy.Lock()
	defer o.busy.Unlock()
	if o.recorder.began {
		o.generator.count(time.Now(), o.recorder.total)
	}
	return o.recorder.final(o.stdout)
}

func (o *Output) flush() {
	o.busy.Lock()
	defer o.busy.Unlock()
	o.drain()
	if o.recorder.began {
		o.printReports(time.Now())
	}
}

// printReports prints due reports.
func (o *Output) printReports(now time.Time) {
	if o.nextCheckpoint.IsZero() {
		o.generator.watch(now)
		o.nextCheckpoint, o.nextProgress = now.Add(o.config.checkpoint), now.Add(o.config.progress)
	}
	if now.Sub(o.generator.at) >= cpuInterval {
		o.generator.count(now, o.recorder.total)
	}
	if !now.Before(o.nextProgress) {
		o.nextProgress = now.Add(o.config.progress)
		o.warn("No progress", o.printProgress(now))
	}
	if !now.Before(o.nextCheckpoint) {
		size, err := o.printCheckpoint()
		o.warn("No checkpoint", err)
		o.nextCheckpoint = now.Add(spacing(o.config.checkpoint, now.Sub(o.recorder.total.Start), size))
	}
}

func (o *Output) printProgress(now time.Time) error {
	line, err := o.recorder.progress.line(now, o.recorder.total)
	if err != nil {
		return err
	}
	_, err = io.WriteString(o.stdout, line)
	return err
}

func (o *Output) printCheckpoint() (size int, err error) {
	out := &sized{Writer: o.stdout}
	err = o.recorder.checkpoint(out)
	return out.size, err
}

// sized counts written bytes.
type sized struct {
	io.Writer
	size int
}

func (s *sized) Write(text []byte) (int, error) {
	n, err := s.Writer.Write(text)
	s.size += n
	return n, err
}

// warn logs an error without stopping the test.
func (o *Output) warn(what string, err error) {
	if err != nil {
		o.log.WithError(err).Warn(what)
	}
}
