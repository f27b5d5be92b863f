// SPDX-License-Identifier: Apache-2.0

package run

import (
	"io"

	"perflab.dev/perflab/payload"
)

// overheard is a log that is read for its results. What k6 told of it is taken
// along, so that it is fetched once.
type overheard struct {
	io.Reader
	aside *io.PipeWriter
	found chan []payload.LogLine
}

func overhear(log io.Reader) *overheard {
	heard, aside := io.Pipe()
	o := &overheard{Reader: io.TeeReader(log, aside), aside: aside, found: make(chan []payload.LogLine, 1)}
	go func() { o.found <- payload.ReadLog(heard) }()
	return o
}

// lines reads what is left, for k6 tells them after its results. A log that
// can't be read to its end has told what it has told.
func (o *overheard) lines() []payload.LogLine {
	_, _ = io.Copy(io.Discard, o.Reader)
	_ = o.aside.Close()
	return <-o.found
}
