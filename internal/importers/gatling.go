// SPDX-License-Identifier: Apache-2.0

package importers

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"perflab.dev/perflab/internal/text/prose"
)

// gatling reads the text log of a simulation of Gatling up to 3.12.
type gatling struct{}

func (gatling) Name() string { return "gatling" }
func (gatling) Tool() string { return "Gatling" }
func (gatling) Reads() string {
	return "simulation.log of Gatling 3.0 to 3.12 (text)"
}

const gatlingBinary = "not a Gatling text log: logs are binary since Gatling 3.13, which is not supported; use js/stats.json of the report with --from gatling-stats"

func (gatling) Read(from Source) (*Measured, error) {
	text := bufio.NewReader(from.In)
	begins, err := text.Peek(64)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.IndexByte(begins, 0) >= 0 {
		return nil, refuse(gatlingBinary)
	}
	log := gatlingLog{tally: newTally(from)}
	log.tally.path = gatlingPath
	if err := lines(text, log.line); err != nil {
		return nil, err
	}
	if !log.begun {
		return nil, refuse(gatlingBinary)
	}
	return log.measured()
}

// gatlingLog is the parsed part of a log.
type gatlingLog struct {
	tally *tally
	begun bool
	// unfinished records have no end.
	unfinished int64
	// broken are failed records without an end.
	broken int64
}

func (l *gatlingLog) measured() (*Measured, error) {
	made, err := l.tally.measured()
	if err != nil {
		return nil, err
	}
	if l.broken > 0 {
		made.Notes = append(made.Notes, fmt.Sprintf("%s without an end counted as failed, without a duration", prose.Counted(l.broken, "record")))
	}
	if l.unfinished > 0 {
		made.Notes = append(made.Notes, fmt.Sprintf("%s without an end omitted: unfinished when the simulation stopped", prose.Counted(l.unfinished, "record")))
	}
	return made, nil
}

// gatlingPath splits a request or group into its comma-separated groups and its name.
func gatlingPath(transaction string) []string {
	groups, name, isRequest := strings.Cut(transaction, "\t")
	switch {
	case !isRequest:
		return strings.Split(groups, ",")
	case groups == "":
		return []string{name}
	}
	return append(strings.Split(groups, ","), name)
}

func (l *gatlingLog) line(_ int, line []byte) error {
	fields := strings.Split(strings.TrimRight(string(line), "\r"), "\t")
	switch kind := fields[0]; {
	case kind == "RUN":
		return l.run(fields)
	case kind == "ASSERTION" || kind == "" && len(fields) == 1:
		return nil
	case !l.begun:
		return refuse(gatlingBinary)
	case kind == "REQUEST":
		return l.request(fields)
	case kind == "GROUP":
		return l.group(fields)
	case kind == "USER" || kind == "ERROR":
		return nil
	default:
		return refuse("unknown record type %q: Gatling's are RUN, USER, REQUEST, GROUP, ERROR and ASSERTION", shorten(kind))
	}
}

// run parses the first record, which ends with the version.
func (l *gatlingLog) run(fields []string) error {
	const fewest = 5
	if len(fields) < fewest {
		return refuse("the RUN record has %d fields, but Gatling 3 writes 6", len(fields))
	}
	version := fields[len(fields)-1]
	if !strings.HasPrefix(version, "3.") {
		return refuse("the log is from Gatling %q, but only 3.0 to 3.12 are supported", shorten(version))
	}
	if l.begun {
		return refuse("another run starts here: put each run in a separate file")
	}
	l.begun = true
	return nil
}

// request parses REQUEST, groups, name, start, end, OK or KO, message. Before 3.4 the user's number
// preceded the groups.
func (l *gatlingLog) request(fields []string) error {
	status := statusIn(fields)
	const before = 4
	if status < before+1 {
		return refuse("a REQUEST record needs groups, a name, a start, an end, and OK or KO, but this one has %d fields", len(fields))
	}
	return l.add(fields[status-2], fields[status-1], sample{transaction: fields[status-4] + "\t" + fields[status-3], failed: fields[status] == "KO"})
}

// group parses GROUP, groups, start, end, total time of the requests, OK or KO.
func (l *gatlingLog) group(fields []string) error {
	status := statusIn(fields)
	const before = 4
	if status < before+1 {
		return refuse("a GROUP record needs groups, a start, an end, a time, and OK or KO, but this one has %d fields", len(fields))
	}
	return l.add(fields[status-3], fields[status-2], sample{transaction: fields[status-4], failed: fields[status] == "KO", inner: true, paused: true})
}

// statusIn returns the index of OK or KO, after all names that may look like it.
func statusIn(fields []string) int {
	const first = 5
	for i := first; i < len(fields); i++ {
		if fields[i] == "OK" || fields[i] == "KO" {
			return i
		}
	}
	return -1
}

// gatlingUndefined is an undefined start or end.
const gatlingUndefined = math.MinInt64

// add adds a sample with these times. A failed one counts even without an end.
func (l *gatlingLog) add(start, end string, of sample) error {
	from, errFrom := strconv.ParseInt(start, 10, 64)
	to, errTo := strconv.ParseInt(end, 10, 64)
	if errors.Join(errFrom, errTo) != nil {
		return refuse("%q and %q are not a start and an end in milliseconds since 1970", shorten(start), shorten(end))
	}
	if from == gatlingUndefined || to == gatlingUndefined && !of.failed {
		l.unfinished++
		return nil
	}
	if to == gatlingUndefined {
		l.broken++
		to = from
	}
	var err error
	if of.start, of.took, err = inMilliseconds(from, to-from); err != nil {
		return err
	}
	return l.tally.add(of)
}
