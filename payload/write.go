// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
)

// framing is the format of bodies of one kind in a log: the prefix of their lines and the version
// in their begin lines.
type framing struct {
	marker  string
	version int
}

var payloads = framing{marker: "perflab-payload ", version: Version}

const (
	// chunk is the number of body bytes per line. With base64 and the prefix, a line stays under
	// maxLine.
	chunk   = 2976
	maxLine = 4096
)

// Write writes p to a log. Each line is one call of w.Write, so that a shared writer keeps lines
// whole.
func Write(w io.Writer, p *Payload) error {
	body, err := Marshal(p)
	if err != nil {
		return err
	}
	return p.write(w, body)
}

// WriteFit writes the result of p.Fit(limit), and compresses it only once for both steps.
func WriteFit(w io.Writer, p *Payload, limit int) error {
	_, body, err := p.fit(limit)
	if err != nil {
		return err
	}
	return p.write(w, body)
}

func (p *Payload) write(w io.Writer, body []byte) error {
	if err := payloads.write(w, body); err != nil {
		return fmt.Errorf("writing payload of %s: %w", p.Load, err)
	}
	return nil
}

func (f framing) write(w io.Writer, body []byte) error {
	for _, line := range f.lines(body) {
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
	}
	return nil
}

// lines splits a body into the lines of the log.
func (f framing) lines(body []byte) []string {
	sum := sha256.Sum256(body)
	id := hex.EncodeToString(sum[:4])
	parts := (len(body) + chunk - 1) / chunk
	lines := []string{fmt.Sprintf(f.marker+"begin id=%s version=%d parts=%d bytes=%d sha256=%x\n", id, f.version, parts, len(body), sum)}
	for k := range parts {
		text := base64.StdEncoding.EncodeToString(body[k*chunk : min((k+1)*chunk, len(body))])
		lines = append(lines, fmt.Sprintf(f.marker+"part id=%s %d/%d %s\n", id, k+1, parts, text))
	}
	return append(lines, fmt.Sprintf(f.marker+"end id=%s\n", id))
}
