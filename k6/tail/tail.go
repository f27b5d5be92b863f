// SPDX-License-Identifier: AGPL-3.0-only

// Package tail keeps the last log lines of k6 and prints them again when k6 ends, in the
// format of package perflab.dev/perflab/payload and without the secrets in the environment.
// The operator, which can't read these secrets, passes on only these lines and not the log.
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

// New returns an empty tail. environment is k6's.
func New(environment map[string]string) *Tail {
	return &Tail{hide: redactor(environment)}
}

// Levels returns the levels that matter to users.
func (t *Tail) Levels() []logrus.Level {
	return []logrus.Level{logrus.PanicLevel, logrus.FatalLevel, logrus.ErrorLevel, logrus.WarnLevel, logrus.InfoLevel}
}

// Fire keeps the entry instead of its text, because later hooks change it, such as k6's,
// which redacts values of secret sources. Secrets are removed only from printed entries,
// which are few.
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

// Print prints the kept lines. It ignores write errors, because k6 is ending.
func (t *Tail) Print(to io.Writer) {
	for _, kept := range t.lines() {
		line, err := kept.Line()
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
		// Redact before truncating: half a secret would not match.
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
