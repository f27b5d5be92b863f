// SPDX-License-Identifier: Apache-2.0

package payload_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"perflab.dev/perflab/payload"
)

// memory is the memory limit of the operator.
const memory = 256 << 20

// bombs are logs of a few hundred KB that decompress to a lot. Each repeats its part, with a
// number in place of a verb. A reader rejects them with an error that contains says, or reads
// them if says is empty.
var bombs = map[string]struct {
	begin, part, end string
	times, frames    int
	samples          bool
	// logs returns the logs of several runners.
	logs func() []string
	says string
}{
	"rows of nothing":    {begin: `{"version":2,"series":[{}`, part: `,{}`, times: 16 << 20, end: `]}`, says: "120 MiB"},
	"a few less":         {begin: `{"version":2,"series":[{}`, part: `,{}`, times: 426_000, end: `]}`, says: "power of two"},
	"buckets":            {begin: `{"version":2,"series":[{"transaction":"a","buckets":[[0,1,1,1,1,0,"$"]`, part: `,[%d,1,1,1,1,0,"$"]`, times: 3 << 20, end: `]}]}`, says: "120 MiB"},
	"a few buckets less": {begin: `{"version":2,"series":[{"transaction":"a","buckets":[[0,1,1,1,1,0,"$"]`, part: `,[%d,1,1,1,1,0,"$"]`, times: 385_000, end: `]}]}`, says: "power of two"},
	"one long text":      {begin: `{"version":2,"load":"`, part: `aaaaaaaaaaaaaaaa`, times: 8 << 20, end: `"}`, says: "120 MiB"},
	"a text less long":   {begin: `{"version":2,"load":"`, part: `aaaaaaaaaaaaaaaa`, times: 2_500_000, end: `"}`, says: "power of two"},
	"objects in objects": {begin: `{"version":2`, part: `,"a":{"a":[{}]}`, times: 3 << 20, end: `}`, says: "120 MiB"},
	"a few objects less": {begin: `{"version":2`, part: `,"a":{"a":[{}]}`, times: 150_000, end: `}`, says: "power of two"},
	"cells":              {logs: func() []string { return []string{cells("1", 0, 13_000)} }, says: "together take"},
	"half the cells":     {logs: func() []string { return []string{series("1", 3, 0, 13_000), series("2", 3, 0, 13_000)} }},
	"cells side by side": {logs: func() []string {
		return []string{cells("1", 0, 4_000), cells("2", 4_000, 4_000), cells("3", 8_000, 4_000), cells("4", 0, 13_000)}
	}},
	"more cells than fit":  {logs: func() []string { return []string{rows("1", 0), rows("2", 1), rows("3", 2)} }, says: "together take"},
	"points":               {begin: `{"version":1,"series":[{"points":[0,0`, part: `,1,0`, times: 16 << 20, end: `]}]}`, samples: true, says: "160 MiB"},
	"a few points less":    {begin: `{"version":1,"series":[{"points":[0,0`, part: `,1,0`, times: 2_700_000, end: `]}]}`, samples: true},
	"statements' texts":    {begin: `{"version":1,"texts":{"a":""`, part: `,"%d":""`, times: 3 << 20, end: `}}`, samples: true, says: "160 MiB"},
	"a few texts less":     {begin: `{"version":1,"texts":{"a":""`, part: `,"%d":""`, times: 870_000, end: `}}`, samples: true},
	"notes":                {begin: `{"version":1,"notes":[""`, part: `,"%d"`, times: 3 << 20, end: `]}`, samples: true, says: "160 MiB"},
	"a few notes less":     {begin: `{"version":1,"notes":[""`, part: `,"%d"`, times: 1_970_000, end: `]}`, samples: true, says: "at most 10000"},
	"containers":           {begin: `{"version":1,"containers":[{}`, part: `,{"component":"%d"}`, times: 340_000, end: `]}`, samples: true},
	"failures":             {begin: `{"version":1,"failures":[{"source":"","at":[0]}`, part: `,{"source":"%d","at":[0]}`, times: 245_000, end: `]}`, samples: true},
	"containers in frames": {begin: `{"version":1,"containers":[{}`, part: `,{"component":"%d"}`, times: 100_000, end: `]}`, samples: true, frames: 40, says: "160 MiB"},
	"failures in frames":   {begin: `{"version":1,"failures":[{"source":"","at":[0]}`, part: `,{"source":"%d","at":[0]}`, times: 60_000, end: `]}`, samples: true, frames: 40, says: "160 MiB"},
}

// cells returns the payload of a runner that used this number of cells, starting at from, in each
// of 500 buckets of six transactions: at most 39 million cells.
func cells(runner string, from, used int) string {
	return series(runner, 6, from, used)
}

// rows returns the payload of runner n with 220 transactions. Each runner uses other cells.
func rows(runner string, n int) string {
	const used = 200
	return series(runner, 220, used*n, used)
}

func series(runner string, transactions, from, used int) string {
	const buckets = 500
	text := strings.Repeat("$", used)
	var rows []string
	for n := range transactions {
		var all []string
		for i := range buckets {
			all = append(all, fmt.Sprintf(`[%d,%d,%d,1,1,%d,"%s"]`, i, used, used, from, text))
		}
		rows = append(rows, fmt.Sprintf(`{"transaction":"%d","outcome":"ok","buckets":[%s]}`, n, strings.Join(all, ",")))
	}
	return fmt.Sprintf(`{"version":2,"runner":%q,"bucketSeconds":1,"requestBucketSeconds":16,"series":[%s]}`, runner, strings.Join(rows, ","))
}

// TestBombs reads each bomb in a process with the operator's memory limit.
func TestBombs(t *testing.T) {
	if folder := os.Getenv("PERFLAB_BOMB"); folder != "" {
		readBomb(t, folder)
		return
	}
	for name, bomb := range bombs {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			logs := [][]byte{bombLog(t, bomb.begin, bomb.part, bomb.end, bomb.times, bomb.frames, bomb.samples)}
			if bomb.logs != nil {
				logs = nil
				for _, text := range bomb.logs() {
					logs = append(logs, bombLog(t, text, "", "", 0, 0, false))
				}
			}
			for n, log := range logs {
				noError(t, os.WriteFile(filepath.Join(folder, strconv.Itoa(n)), log, 0o600))
			}
			reader := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBombs$", "-test.v")
			reader.Env = append(os.Environ(), "PERFLAB_BOMB="+folder)
			output, err := reader.CombinedOutput()
			if err != nil || !strings.Contains(string(output), cmp.Or(bomb.says, "was read")) {
				t.Errorf("%v, want it to say %q\n%.1000s", err, bomb.says, output)
			}
			t.Logf("%.2000s", output)
		})
	}
}

// readBomb reads logs as the operator does, and logs the peak memory.
func readBomb(t *testing.T, folder string) {
	t.Helper()
	files, err := os.ReadDir(folder)
	noError(t, err)
	var sum payload.Sum
	withinMemory(t, func() {
		for _, file := range files {
			if err := readLog(filepath.Join(folder, file.Name()), &sum); err != nil {
				t.Logf("%.300v", err)
				break
			}
			t.Log("was read")
		}
	})
}

// withinMemory calls do within the memory limit of the operator, and logs the peak memory. The
// limit applies to the whole process, so the caller needs its own process.
func withinMemory(t *testing.T, do func()) {
	t.Helper()
	// The limit is twice as high because it applies to addresses, and includes released memory.
	noError(t, syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: 2 * memory, Max: 2 * memory}))
	debug.SetMemoryLimit(memory * 9 / 10)
	do()
	status, err := os.ReadFile("/proc/self/status")
	noError(t, err)
	peak := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindStringSubmatch(string(status))
	if kB, err := strconv.Atoi(peak[1]); err != nil || kB > memory>>10 {
		t.Errorf("%s: more than %d MiB (%v)", peak[0], memory>>20, err)
	}
	t.Log(peak[0])
}

// readLog reads samples, or else a payload, which it adds to the sum.
func readLog(path string, sum *payload.Sum) error {
	log, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = payload.ReadSamples(log)
	if !errors.Is(err, payload.ErrNone) {
		return err
	}
	if _, err := log.Seek(0, io.SeekStart); err != nil {
		return err
	}
	own, err := payload.Read(log)
	if err != nil {
		return err
	}
	return sum.Add(own)
}

// bombLog returns a log with a text in one frame or in several.
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
		noError(t, err)
	}
	if _, err := io.WriteString(zip, end); err != nil {
		t.Fatal(err)
	}
	noError(t, zip.Close())
	return body.Bytes()
}
