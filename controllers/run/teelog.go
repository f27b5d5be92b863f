// SPDX-License-Identifier: Apache-2.0

package run

import (
	"io"

	"perflab.dev/perflab/payload"
)

// teedLog reads a log for its results and copies it to a reader of log lines, so that the log
// is fetched once.
type teedLog struct {
	io.Reader
	pipe     *io.PipeWriter
	logLines chan []payload.LogLine
}

func teeLog(log io.Reader) *teedLog {
	heard, aside := io.Pipe()
	o := &teedLog{Reader: io.TeeReader(log, aside), pipe: aside, logLines: make(chan []payload.LogLine, 1)}
	go func() { o.logLines <- payload.ReadLog(heard) }()
	return o
}

// lines reads the rest of the log, because k6 prints log lines after the results. If the log
// cannot be read to its end, the lines so far are returned.
func (o *teedLog) lines() []payload.LogLine {
	_, _ = io.Copy(io.Discard, o.Reader)
	_ = o.pipe.Close()
	return <-o.logLines
}
