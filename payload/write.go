// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
)

const (
	marker = "perflab-payload "
	// chunk is the number of body bytes per line: with its base64 and prefix a
	// line stays under maxLine.
	chunk   = 2976
	maxLine = 4096
)

// Write puts p into a log. Each line is one call of w.Write, so that a writer
// shared with others keeps lines whole.
func Write(w io.Writer, p *Payload) error {
	body, err := Marshal(p)
	if err != nil {
		return err
	}
	for _, line := range frame(body) {
		if _, err := io.WriteString(w, line); err != nil {
			return fmt.Errorf("writing payload of %s: %w", p.Load, err)
		}
	}
	return nil
}

// frame cuts a body into the lines of the log.
func frame(body []byte) []string {
	sum := sha256.Sum256(body)
	id := hex.EncodeToString(sum[:4])
	parts := (len(body) + chunk - 1) / chunk
	lines := []string{fmt.Sprintf(marker+"begin id=%s version=%d parts=%d bytes=%d sha256=%x\n", id, Version, parts, len(body), sum)}
	for k := range parts {
		text := base64.StdEncoding.EncodeToString(body[k*chunk : min((k+1)*chunk, len(body))])
		lines = append(lines, fmt.Sprintf(marker+"part id=%s %d/%d %s\n", id, k+1, parts, text))
	}
	return append(lines, fmt.Sprintf(marker+"end id=%s\n", id))
}
