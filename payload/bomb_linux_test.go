// SPDX-License-Identifier: Apache-2.0

package payload_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"perflab.dev/perflab/payload"
)

// memory is what the operator has.
const memory = 256 << 20

// bombs are logs of a few hundred KB that unpack to a lot. Their parts are
// repeated, with a number in them where there is a verb for it.
var bombs = map[string]struct {
	begin, part, end string
	times, frames    int
	samples          bool
}{
	"rows of nothing":      {begin: `{"version":2,"series":[{}`, part: `,{}`, times: 16 << 20, end: `]}`},
	"buckets":              {begin: `{"version":2,"series":[{"transaction":"a","buckets":[[0,1,1,1,1,0,"#"]`, part: `,[%d,1,1,1,1,0,"#"]`, times: 3 << 20, end: `]}]}`},
	"one long text":        {begin: `{"version":2,"load":"`, part: `aaaaaaaaaaaaaaaa`, times: 8 << 20, end: `"}`},
	"points":               {begin: `{"version":1,"series":[{"points":[0,0`, part: `,1,0`, times: 16 << 20, end: `]}]}`, samples: true},
	"statements' texts":    {begin: `{"version":1,"texts":{"a":""`, part: `,"%d":""`, times: 3 << 20, end: `}}`, samples: true},
	"notes":                {begin: `{"version":1,"notes":[""`, part: `,"%d"`, times: 3 << 20, end: `]}`, samples: true},
	"containers in frames": {begin: `{"version":1,"containers":[{}`, part: `,{"component":"%d"}`, times: 100_000, end: `]}`, samples: true, frames: 40},
	"failures in frames":   {begin: `{"version":1,"failures":[{"source":"","at":[0]}`, part: `,{"source":"%d","at":[0]}`, times: 60_000, end: `]}`, samples: true, frames: 40},
}

// TestBombs reads each of them in a process that may not take more memory.
func TestBombs(t *testing.T) {
	if path := os.Getenv("PERFLAB_BOMB"); path != "" {
		readBomb(t, path)
		return
	}
	for name, bomb := range bombs {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(path, bombLog(t, bomb.begin, bomb.part, bomb.end, bomb.times, bomb.frames, bomb.samples), 0o600); err != nil {
				t.Fatal(err)
			}
			reader := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBombs$", "-test.v")
			reader.Env = append(os.Environ(), "PERFLAB_BOMB="+path)
			if output, err := reader.CombinedOutput(); err != nil {
				t.Errorf("%v\n%.3000s", err, output)
			} else {
				t.Logf("%s", output)
			}
		})
	}
}

// readBomb reads a log as the operator does.
func readBomb(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: memory, Max: memory}); err != nil {
		t.Fatal(err)
	}
	debug.SetMemoryLimit(memory * 9 / 10)
	log, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	samples, err := payload.ReadSamples(log)
	if err == nil {
		t.Logf("%d containers and %d failures were read", len(samples.Containers), len(samples.Failures))
		return
	}
	t.Log(err)
	if _, err := log.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if _, err := payload.Read(log); err == nil {
		t.Error("a bomb is no payload")
	} else {
		t.Log(err)
	}
}

// bombLog is a log with a text in one frame or in several.
func bombLog(t *testing.T, begin, part, end string, times, frames int, samples bool) []byte {
	t.Helper()
	marker, version := "perflab-payload ", payload.Version
	if samples {
		marker, version = "perflab-samples ", payload.SamplesVersion
	}
	var log bytes.Buffer
	for n := range max(frames, 1) {
		body := bombBody(t, begin, part, end, times, n*times)
		sum := sha256.Sum256(body)
		id := fmt.Sprintf("%08x", n)
		const chunk = 2976
		parts := (len(body) + chunk - 1) / chunk
		fmt.Fprintf(&log, "%sbegin id=%s version=%d parts=%d bytes=%d sha256=%x\n", marker, id, version, parts, len(body), sum)
		for k := range parts {
			fmt.Fprintf(&log, "%spart id=%s %d/%d %s\n", marker, id, k+1, parts, base64.StdEncoding.EncodeToString(body[k*chunk:min((k+1)*chunk, len(body))]))
		}
		fmt.Fprintf(&log, "%send id=%s\n", marker, id)
	}
	return log.Bytes()
}

func bombBody(t *testing.T, begin, part, end string, times, from int) []byte {
	t.Helper()
	var body bytes.Buffer
	zip := gzip.NewWriter(&body)
	if _, err := io.WriteString(zip, begin); err != nil {
		t.Fatal(err)
	}
	counted := strings.Contains(part, "%d")
	for n := range times {
		var err error
		if counted {
			_, err = fmt.Fprintf(zip, part, from+n+1)
		} else {
			_, err = io.WriteString(zip, part)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.WriteString(zip, end); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return body.Bytes()
}
