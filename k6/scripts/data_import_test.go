// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/k6/internal/k6test"
	"perflab.dev/perflab/payload"
)

const dataImport = "data-import.js"

func importing(m *importer, own ...string) []string {
	return environment(m.URL, append([]string{"JOB_PROFILE=PTF - Create 2", "RECORDS=100", "POLL_SECONDS=0.2"}, own...)...)
}

// totals are imports, failed imports, records, failed records.
func totals(p *payload.Payload) [4]float64 {
	return [4]float64{p.Total("perflab_imports"), p.Total("perflab_imports_failed"), p.Total("perflab_records"), p.Total("perflab_records_failed")}
}

// importCalls is what one import asks, looks at the job left out.
var importCalls = []string{
	`GET /data-import/uploadDefinitions?query=(status==("NEW" OR "IN_PROGRESS" OR "LOADED")) sortBy createdDate/sort.descending&limit=1`,
	`POST /data-import/uploadDefinitions`,
	`GET /data-import/uploadDefinitions?query=(status==("NEW" OR "IN_PROGRESS" OR "LOADED")) sortBy createdDate/sort.descending&limit=1`,
	`POST /data-import/uploadDefinitions/<upload>/files/<file>`,
	`GET /data-import/fileExtensions?query=extension==".mrc"`,
	`GET /data-import-profiles/jobProfiles?limit=5000`,
	`GET /data-import-profiles/jobProfiles/` + profileID,
	`POST /data-import/uploadDefinitions/<upload>/processFiles?defaultMapping=false`,
	`GET /metadata-provider/jobSummary/<job>`,
}

var lookCalls = []string{
	`GET /metadata-provider/jobExecutions?statusNot=DISCARDED&uiStatusAny=PREPARING_FOR_PREVIEW&uiStatusAny=READY_FOR_PREVIEW&uiStatusAny=RUNNING&limit=50&sortBy=completed_date,desc`,
	`GET /metadata-provider/jobExecutions?statusAny=COMMITTED&statusAny=ERROR&statusAny=CANCELLED&limit=25&sortBy=completed_date,desc`,
}

func TestImportsInTheirOrder(t *testing.T) {
	t.Parallel()
	m := newImporter(t)
	result := k6test.Run(t, dataImport, importing(m, "IMPORTS=2", "PAUSE_SECONDS=0.5"))
	p := result.Payload(t)
	if result.Code != 0 || totals(p) != [4]float64{2, 0, 200, 0} {
		t.Fatalf("exit code %d, counted %v\n%s", result.Code, totals(p), result.Stderr)
	}
	var own, looks []string
	for _, c := range m.conversations()[1] {
		if strings.Contains(c.line, "/jobExecutions?") {
			looks = append(looks, c.line)
		} else {
			own = append(own, c.line)
		}
	}
	if len(own) != 2*len(importCalls) {
		t.Fatalf("%d calls for two imports, want %d:\n%s", len(own), 2*len(importCalls), strings.Join(own, "\n"))
	}
	for i, line := range own {
		if err := match(importCalls[i%len(importCalls)], line, map[string]string{}); err != nil {
			t.Error(err)
		}
	}
	// 100 records by 40 at a look: three looks for each import.
	if len(looks) != 2*3*len(lookCalls) {
		t.Errorf("%d looks, want 12", len(looks))
	}
	for i, line := range looks {
		if line != lookCalls[i%len(lookCalls)] {
			t.Errorf("look %d is %s", i, line)
		}
	}
	job, _ := p.Summary("Import job", "ok")
	if job.Count != 2 || job.Mean != m.dates {
		t.Errorf("Import job = %+v, want 2 of %v", job, m.dates)
	}
	// Two pauses of 0.2 s between three looks; the 3 s before the upload do not count.
	client, _ := p.Summary("Import", "ok")
	if client.Count != 2 || client.Min < 400*time.Millisecond || client.Max > 1200*time.Millisecond {
		t.Errorf("Import = %+v", client)
	}
}

func TestFilesAreValidMARCAndUnique(t *testing.T) {
	t.Parallel()
	m := newImporter(t)
	m.step = 2000
	k6test.Run(t, dataImport, importing(m, "IMPORTS=2", "RECORDS=1200"))
	other := newImporter(t)
	other.step = 2000
	k6test.Run(t, dataImport, importing(other, "RECORDS=1200", "PERFLAB_RUN=run-2"))
	again := newImporter(t)
	again.step = 2000
	k6test.Run(t, dataImport, importing(again, "RECORDS=1200"))
	if len(m.files) != 2 || len(other.files) != 1 || len(again.files) != 1 {
		t.Fatalf("%d, %d and %d files", len(m.files), len(other.files), len(again.files))
	}
	if again.files[0] != m.files[0] {
		t.Error("the same seed and run make a different file")
	}
	keys := map[string]bool{}
	for _, file := range append(slices.Clone(m.files), other.files...) {
		records, err := readMARC(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(records) != 1200 {
			t.Fatalf("%d records", len(records))
		}
		for _, fields := range records {
			checkRecord(t, fields, keys)
		}
		if mean := len(file) / len(records); mean < 1300 || mean > 1650 {
			t.Errorf("%d bytes per record", mean)
		}
		if len([]rune(file)) == len(file) {
			t.Error("all of the file is ASCII")
		}
	}
	// Nothing but the number of the import differs within a run.
	first, second := m.files[0], m.files[1]
	if zeroed := regexp.MustCompile(`(pl[0-9a-f]{8})00[12]`); zeroed.ReplaceAllString(first, "$1") != zeroed.ReplaceAllString(second, "$1") {
		t.Error("two imports of a run differ by more than their number")
	}
}

func checkRecord(t *testing.T, fields []marcField, keys map[string]bool) {
	t.Helper()
	key := value(fields, "001")
	if keys[key] || len(key) != 19 {
		t.Fatalf("key %q is not unique or malformed", key)
	}
	keys[key] = true
	if value(fields, "010") != "   "+key || value(fields, "035") != "(PerfLab)"+key {
		t.Fatalf("key %q, 010 %q, 035 %q", key, value(fields, "010"), value(fields, "035"))
	}
	if len(value(fields, "008")) != 40 || len(value(fields, "005")) != 16 || value(fields, "245") == "" {
		t.Fatalf("008 %q, 005 %q, 245 %q", value(fields, "008"), value(fields, "005"), value(fields, "245"))
	}
	if !slices.IsSortedFunc(fields, func(a, b marcField) int { return strings.Compare(a.tag, b.tag) }) {
		t.Fatalf("fields out of order: %v", fields)
	}
}

func TestImportThatGoesWrong(t *testing.T) {
	tests := []struct {
		name     string
		how      func(*importer)
		env      []string
		code     int
		totals   [4]float64
		job      int // samples of Import job with outcome error
		sentence string
	}{
		{
			"the job ends in ERROR", func(m *importer) { m.status, m.lost = "ERROR", 3 },
			[]string{"IMPORTS=2"},
			110,
			[4]float64{2, 2, 194, 6},
			2, "import 1 of 2 ended ERROR: 97 of 100 records imported, 3 failed",
		},
		{
			"records are lost without an error", func(m *importer) { m.lost = 1 }, nil, 110,
			[4]float64{1, 1, 99, 1},
			1, "import 1 of 1 ended COMMITTED: 99 of 100 records imported, 1 failed",
		},
		{
			"the job stalls", func(m *importer) { m.stallAt = 80 },
			[]string{"IMPORTS=3", "STALL_TIMEOUT_SECONDS=2"},
			108,
			[4]float64{1, 1, 80, 20},
			0, "import 1 of 3 stalled: no progress in 2 s after 80 of 100 records",
		},
		{
			"the upload is refused", func(m *importer) { m.refuse = onCall("/files/file-", http.StatusRequestEntityTooLarge) }, nil, 110,
			[4]float64{1, 1, 0, 100},
			0, "files/{} answered 413 instead of 200",
		},
		{
			"only the first upload is refused", func(m *importer) { m.refuse = onCall("upload-1/files/", http.StatusInternalServerError) },
			[]string{"IMPORTS=2"},
			0,
			[4]float64{2, 1, 100, 100},
			0, "import 1 of 2 failed",
		},
		{
			"a look fails", func(m *importer) {
				m.refuse = func(line string, nth int) int {
					if line == lookCalls[1] && nth == 1 {
						return http.StatusBadGateway
					}
					return 0
				}
			}, nil, 0,
			[4]float64{1, 0, 100, 0},
			0, "cannot see how job job-1 does",
		},
		{
			"there is no summary", func(m *importer) { m.noSummary = true }, nil, 0,
			[4]float64{1, 0, 100, 0},
			0, "its progress counts instead",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := newImporter(t)
			tt.how(m)
			result := k6test.Run(t, dataImport, importing(m, tt.env...))
			p := result.Payload(t)
			if result.Code != tt.code || totals(p) != tt.totals || counted(t, p, "Import job", "error") != tt.job {
				t.Errorf("exit code %d, counted %v, %d failed jobs; want %d, %v, %d",
					result.Code, totals(p), counted(t, p, "Import job", "error"), tt.code, tt.totals, tt.job)
			}
			if counted(t, p, "Import", "error") != int(tt.totals[1]) || counted(t, p, "Import", "ok") != int(tt.totals[0]-tt.totals[1]) {
				t.Errorf("%d imports ok, %d failed", counted(t, p, "Import", "ok"), counted(t, p, "Import", "error"))
			}
			if !strings.Contains(result.Stderr, tt.sentence) {
				t.Errorf("the log lacks %q\n%s", tt.sentence, result.Stderr)
			}
		})
	}
}

// onCall refuses every call whose line contains a text.
func onCall(part string, status int) func(string, int) int {
	return func(line string, _ int) int {
		if strings.Contains(line, part) {
			return status
		}
		return 0
	}
}

func TestImportThatCannotBeIsToldAtOnce(t *testing.T) {
	m := newImporter(t)
	tests := []struct {
		name     string
		env      []string
		code     int
		sentence string
	}{
		{"no such profile", []string{"JOB_PROFILE=Mine"}, 108, `there is no job profile \"Mine\"; it has \"Other\", \"PTF - Create 2\"`},
		{"nobody listens", []string{"BASE_URL=http://127.0.0.1:1"}, 108, "connection refused"},
		{"an operation to come", []string{"OPERATION=Update"}, 107, "it was told to Update Bibliographic"},
		{"no records", []string{"RECORDS=0"}, 107, `environment variable RECORDS is \"0\"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			result := k6test.Run(t, dataImport, importing(m, tt.env...))
			if result.Code != tt.code || !strings.Contains(result.Stderr, tt.sentence) {
				t.Errorf("exit code %d, want %d and %q\n%s", result.Code, tt.code, tt.sentence, result.Stderr)
			}
			if took := time.Since(began); took > 18*time.Second {
				t.Errorf("it took %v to tell", took)
			}
		})
	}
}
