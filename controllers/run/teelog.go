// SPDX-License-Identifier: Apache-2.0

package run

import (
	"io"

	"perflab.dev/perflab/payload"
)

// teedLog is a log that is read for its results. What k6 told of it is taken
// along, so that it is fetched once.
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

// lines reads what is left, for k6 tells them after its results. A log that
// can't be read to its end has told what it has told.
func (o *teedLog) lines() []payload.LogLine {
	_, _ = io.Copy(io.Discard, o.Reader)
	_ = o.pipe.Close()
	return <-o.logLines
}
