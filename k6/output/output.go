// SPDX-License-Identifier: AGPL-3.0-only

// Package output is the k6 output "perflab". It keeps what a test measures as
// histograms and sums per time bucket, in memory that does not grow with the
// number of samples, and prints it to stdout as a payload (package
// perflab.dev/perflab/payload): a checkpoint every minute and a final one when
// the test ends, be it by itself, through the REST API or by a signal.
//
// "--out perflab=checkpoint=30s" sets the time between checkpoints. The names in
// the payload come from the environment: PERFLAB_LOAD, PERFLAB_RUN and, where
// the host's name will not do, PERFLAB_RUNNER.
package output

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/sirupsen/logrus"
	"go.k6.io/k6/v2/output"

	"perflab.dev/perflab/payload"
)

const (
	// flushEvery is the time between two emptyings of the sample buffer.
	flushEvery = time.Second
	// maxBytes is the largest compressed payload that is printed.
	maxBytes = 512 << 10
)

func init() { output.RegisterExtension("perflab", New) }

// Output collects samples and prints payloads. Only the flusher's goroutine
// touches the recorder, and Stop only once that has ended.
type Output struct {
	output.SampleBuffer

	log        logrus.FieldLogger
	stdout     io.Writer
	checkpoint time.Duration
	recorder   *recorder
	flusher    *output.PeriodicFlusher
	next       time.Time // when the next checkpoint is due
}

// New makes the output. It fails if the configuration is malformed.
func New(params output.Params) (output.Output, error) {
	checkpoint, err := parseConfig(params.ConfigArgument)
	if err != nil {
		return nil, err
	}
	return &Output{
		log:        params.Logger,
		stdout:     params.StdOut,
		checkpoint: checkpoint,
		recorder:   newRecorder(params.Environment["PERFLAB_LOAD"], params.Environment["PERFLAB_RUN"], runnerName(params)),
	}, nil
}

// runnerName tells apart the runners of one test, also those on one host.
func runnerName(params output.Params) string {
	name := params.Environment["PERFLAB_RUNNER"]
	if name == "" {
		// A host without a name is no reason not to measure.
		name, _ = os.Hostname()
	}
	if segment := params.ScriptOptions.ExecutionSegment; segment != nil {
		name += " " + segment.String()
	}
	return name
}

// Description is what k6 prints about the output.
func (o *Output) Description() string {
	return fmt.Sprintf("perflab (checkpoint every %s)", o.checkpoint)
}

// Start begins to take in samples.
func (o *Output) Start() error {
	o.next = time.Now().Add(o.checkpoint)
	flusher, err := output.NewPeriodicFlusher(flushEvery, o.flush)
	if err != nil {
		return fmt.Errorf("starting output perflab: %w", err)
	}
	o.flusher = flusher
	return nil
}

// Stop prints the final payload. k6 calls it however the test ends.
func (o *Output) Stop() error {
	o.flusher.Stop()
	return o.print(true)
}

func (o *Output) flush() {
	for _, container := range o.GetBufferedSamples() {
		for _, sample := range container.GetSamples() {
			o.recorder.add(sample)
		}
	}
	if now := time.Now(); !now.Before(o.next) {
		o.next = now.Add(o.checkpoint)
		if err := o.print(false); err != nil {
			o.log.WithError(err).Warn("No checkpoint")
		}
	}
}

func (o *Output) print(final bool) error {
	p, err := o.recorder.payload(final)
	if err != nil {
		return err
	}
	return payload.Write(o.stdout, p)
}
