// SPDX-License-Identifier: AGPL-3.0-only

// Package tail keeps what k6 logs last and prints it once more when k6 ends, as
// lines of package perflab.dev/perflab/payload without the secrets that the
// environment holds. Who may not read those secrets can't take them out, and so
// has to leave the log itself alone; these lines it may pass on.
package tail

import (
	"io"
	"sync"

	"github.com/sirupsen/logrus"

	"perflab.dev/perflab/payload"
)

// Tail is a hook of k6's logger.
type Tail struct {
	hide func(string) string

	mutex sync.Mutex
	last  []*logrus.Entry // the newest at the end
	wrong *logrus.Entry   // the newest error that last no longer holds
}

// New keeps nothing yet. The environment is that of k6.
func New(environment map[string]string) *Tail {
	return &Tail{hide: redactor(environment)}
}

// Levels are those that say something to people.
func (t *Tail) Levels() []logrus.Level {
	return []logrus.Level{logrus.PanicLevel, logrus.FatalLevel, logrus.ErrorLevel, logrus.WarnLevel, logrus.InfoLevel}
}

// Fire keeps the entry and not what it says: hooks that follow change that, like
// k6's own, which takes out what a script got from a secret source. Most entries
// are never printed, so that secrets are taken out of the few that are.
func (t *Tail) Fire(entry *logrus.Entry) error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.last = append(t.last, entry)
	if len(t.last) > payload.MaxLogLines {
		if isError(t.last[0]) {
			t.wrong = t.last[0]
		}
		t.last = append(t.last[:0], t.last[1:]...)
	}
	return nil
}

func isError(entry *logrus.Entry) bool { return entry.Level <= logrus.ErrorLevel }

// Print prints what is kept. What can't be written is lost: k6 is ending, and
// there is nobody left to tell.
func (t *Tail) Print(to io.Writer) {
	for _, told := range t.lines() {
		line, err := told.Line()
		if err == nil {
			_, _ = io.WriteString(to, line)
		}
	}
}

func (t *Tail) lines() []payload.LogLine {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	all := t.last
	if t.wrong != nil {
		all = append([]*logrus.Entry{t.wrong}, all...)
	}
	lines := make([]payload.LogLine, 0, len(all))
	for _, entry := range all {
		// Cut only what is clean: half a secret would not be found.
		lines = append(lines, payload.NewLogLine(entry.Level.String(), t.hide(cleanMessage(entry))))
	}
	return payload.Bounded(lines)
}

func cleanMessage(entry *logrus.Entry) string {
	if cause, is := entry.Data[logrus.ErrorKey].(error); is {
		return entry.Message + ": " + cause.Error()
	}
	return entry.Message
}
