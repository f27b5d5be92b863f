// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
)

// maxFrame is the largest body that Read collects, in bytes.
const maxFrame = 16 << 20

// maxHeld is the number of bodies of a log that may be decoded, starting with the newest. The
// last final payload is at the end of a log, after checkpoints.
const maxHeld = 3

// Read returns the payload in a log, and ignores other lines. Of the last three payloads, it
// returns the last valid final one, or else the last valid checkpoint. It skips a damaged payload
// if the log holds a valid one. It fails with ErrNone if the log holds none, and with ErrCorrupt
// if all are damaged. It fails with ErrTooLarge if they take too much memory, and with the error
// of r.
func Read(r io.Reader) (*Payload, error) {
	p, _, err := ReadSum(r)
	return p, err
}

// ReadSum is like Read, and also returns the SHA-256 of the payload's body, in hexadecimal, as in
// its begin line.
func ReadSum(r io.Reader) (p *Payload, sum string, err error) {
	var held [][]byte
	bad, err := payloads.scan(r, func(body []byte) error {
		held = newest(append(held, body))
		return nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("reading log: %w", err)
	}
	var best *Payload
	for _, body := range slices.Backward(held) {
		p, err := Unmarshal(body)
		switch {
		case err != nil:
			bad = err
		case p.Final:
			return p, checksum(body), nil
		case best == nil:
			best, sum = p, checksum(body)
		}
	}
	switch {
	case best != nil:
		return best, sum, nil
	case bad != nil:
		return nil, "", fmt.Errorf("reading log: %w", bad)
	default:
		return nil, "", fmt.Errorf("reading log: %w", ErrNone)
	}
}

func checksum(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// newest returns the last bodies: at most maxHeld, and at most maxFrame bytes in total.
func newest(bodies [][]byte) [][]byte {
	size := 0
	for i, body := range slices.Backward(bodies) {
		size += len(body)
		if i < len(bodies)-1 && size > maxFrame || i < len(bodies)-maxHeld {
			return slices.Clone(bodies[i+1:])
		}
	}
	return bodies
}

// scan calls take with each complete body of this kind in a log. It returns why it skipped the
// last body that was damaged or that take rejected, and the error of r.
func (f framing) scan(r io.Reader, take func(body []byte) error) (bad, err error) {
	found := search{framing: f, take: take}
	lines := bufio.NewReaderSize(r, 2*maxLine)
	for {
		line, err := nextLine(lines)
		if len(line) > 0 {
			found.line(line)
		}
		if errors.Is(err, io.EOF) {
			found.unfinished()
			return found.bad, nil
		}
		if err != nil {
			return found.bad, err
		}
	}
}

// eachMarked calls take with the text after the marker in each line that contains it.
func eachMarked(log io.Reader, marker string, take func(text []byte)) {
	lines := bufio.NewReaderSize(log, 2*maxLine)
	for {
		line, err := nextLine(lines)
		if _, text, found := bytes.Cut(line, []byte(marker)); found {
			take(text)
		}
		if err != nil {
			return
		}
	}
}

// nextLine returns a line without its end, or nothing if the line is too long for this format.
// The line is valid until the next call.
func nextLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return bytes.TrimRight(line, "\r\n"), err
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.ReadSlice('\n')
	}
	return nil, err
}

// search is the state of a scan of a log.
type search struct {
	framing framing
	take    func(body []byte) error
	open    *frameReader // started, not yet ended
	begun   bool         // a begin line was seen
	bad     error        // why the last damaged body was skipped
}

func (s *search) line(line []byte) {
	at := bytes.Index(line, []byte(s.framing.marker))
	if at < 0 {
		return
	}
	verb, rest, _ := bytes.Cut(line[at+len(s.framing.marker):], []byte(" "))
	switch string(verb) {
	case "begin":
		s.begun = true
		s.unfinished()
		open, err := begin(rest, s.framing.version)
		if err != nil {
			s.bad = err
			return
		}
		s.open = open
	case "part":
		if s.open != nil {
			s.open.part(rest)
		}
		s.markTruncated()
	case "end":
		s.end(rest)
		s.markTruncated()
	}
}

// markTruncated records that the log starts in the middle of a block, for example after a
// rotation.
func (s *search) markTruncated() {
	if !s.begun {
		s.bad = fmt.Errorf("%w: the log begins in the middle of a block", ErrCorrupt)
	}
}

func (s *search) end(rest []byte) {
	if s.open == nil || string(rest) != "id="+s.open.id {
		return
	}
	body, err := s.open.whole()
	s.open = nil
	if err == nil {
		err = s.take(body)
	}
	if err != nil {
		s.bad = err
	}
}

func (s *search) unfinished() {
	if s.open != nil {
		s.bad = fmt.Errorf("%w: payload %s has no end", ErrCorrupt, s.open.id)
		s.open = nil
	}
}

// frameReader collects the parts of one body.
type frameReader struct {
	id     string
	parts  int
	length int
	sum    string
	body   []byte
	next   int // number of the next part
}

func begin(line []byte, known int) (*frameReader, error) {
	f := &frameReader{next: 1}
	var version int
	if _, err := fmt.Sscanf(string(line), "id=%s version=%d parts=%d bytes=%d sha256=%s",
		&f.id, &version, &f.parts, &f.length, &f.sum); err != nil {
		return nil, fmt.Errorf("%w: malformed begin line: %w", ErrCorrupt, err)
	}
	if version != known {
		return nil, fmt.Errorf("%w: unsupported version %d, want %d", ErrCorrupt, version, known)
	}
	if f.length < 0 || f.length > maxFrame {
		return nil, fmt.Errorf("%w: payload %s has an invalid size of %d bytes", ErrCorrupt, f.id, f.length)
	}
	return f, nil
}

// part adds a line. It ignores an unexpected line, and whole then fails.
func (f *frameReader) part(line []byte) {
	prefix := fmt.Sprintf("id=%s %d/%d ", f.id, f.next, f.parts)
	text, ok := bytes.CutPrefix(line, []byte(prefix))
	if !ok || len(f.body)+base64.StdEncoding.DecodedLen(len(text)) > f.length+2 {
		return
	}
	data, err := base64.StdEncoding.AppendDecode(f.body, text)
	if err != nil {
		return
	}
	f.body = data
	f.next++
}

func (f *frameReader) whole() ([]byte, error) {
	if len(f.body) != f.length || f.next != f.parts+1 {
		return nil, fmt.Errorf("%w: payload %s has %d of %d bytes", ErrCorrupt, f.id, len(f.body), f.length)
	}
	if checksum(f.body) != f.sum {
		return nil, fmt.Errorf("%w: payload %s does not match its checksum", ErrCorrupt, f.id)
	}
	return f.body, nil
}
