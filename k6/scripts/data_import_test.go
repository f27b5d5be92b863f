// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/k6/internal/k6test"
	"perflab.dev/perflab/k6/marc"
	"perflab.dev/perflab/payload"
)

const dataImport = "data-import.js"

func importing(m *importer, own ...string) []string {
	return environment(m.URL, append([]string{"JOB_PROFILE=PTF - Create 2", "RECORDS=100", "POLL_SECONDS=0.2"}, own...)...)
}

// totals returns imports, failed imports, records, failed records.
func totals(p *payload.Payload) [4]float64 {
	return [4]float64{p.Total("perflab_imports"), p.Total("perflab_imports_failed"), p.Total("perflab_records"), p.Total("perflab_records_failed")}
}

// importCalls are the calls of one import, without those that poll the job.
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
	// 100 records at 40 per poll: three polls for each import.
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
	for _, each := range []string{"Import job 1", "Import job 2"} {
		if one, _ := p.Summary(each, "ok"); one.Count != 1 || one.Mean != m.dates {
			t.Errorf("%s = %+v, want one of %v", each, one, m.dates)
		}
	}
	// Two pauses of 0.2 s between three polls; the 3 s before the upload do not count.
	client, _ := p.Summary("Import", "ok")
	if client.Count != 2 || client.Min < 400*time.Millisecond || client.Max > 1200*time.Millisecond {
		t.Errorf("Import = %+v", client)
	}
}

func TestFilesAreThoseOfTheRun(t *testing.T) {
	t.Parallel()
	m := newImporter(t)
	m.step = 2000
	k6test.Run(t, dataImport, importing(m, "IMPORTS=2", "RECORDS=1200"))
	if len(m.files) != 2 {
		t.Fatalf("%d files", len(m.files))
	}
	for i, got := range m.files {
		want, err := marc.NewFile(marc.Options{Kind: marc.Bibliographic, Seed: "7", Run: "run-1", Import: i + 1, Records: 1200})
		k6test.NoError(t, err)
		if got != string(want.Rest()) {
			t.Errorf("file %d is not that of seed 7, run-1", i+1)
		}
	}
}

// sample is a line of k6's own output "json".
type sample struct {
	Type, Metric string
	Data         struct {
		Value float64
		Tags  map[string]string
	}
}

func TestProgressAndTagsOfRequests(t *testing.T) {
	t.Parallel()
	m := newImporter(t)
	path := filepath.Join(t.TempDir(), "samples.json")
	result := k6test.Run(t, dataImport, importing(m, "IMPORTS=2"), "--out=json="+path)
	if result.Code != 0 {
		t.Fatalf("exit code %d\n%s", result.Code, result.Stderr)
	}
	file, err := os.ReadFile(path)
	k6test.NoError(t, err)
	var done []float64
	tagged := map[string]int{}
	for line := range strings.Lines(string(file)) {
		var s sample
		k6test.NoError(t, json.Unmarshal([]byte(line), &s))
		if s.Type == "Point" && s.Metric == "perflab_records_done" {
			done = append(done, s.Data.Value)
		}
		if s.Type == "Point" && s.Metric == "http_reqs" {
			tagged[s.Data.Tags["transaction"]+" "+s.Data.Tags["name"]]++
		}
	}
	// 40 records per poll, of 100 in each import; the end counts them once more.
	if want := []float64{40, 80, 100, 100, 140, 180, 200, 200}; !slices.Equal(done, want) {
		t.Errorf("perflab_records_done was %v, want %v", done, want)
	}
	for name, count := range map[string]int{
		"Import POST /data-import/uploadDefinitions/{}/files/{}":     2,
		"Import POST /data-import/uploadDefinitions/{}/processFiles": 2,
		"Import GET /metadata-provider/jobExecutions":                12,
		" POST /data-import/uploadDefinitions":                       2,
		" GET /metadata-provider/jobSummary/{}":                      2,
	} {
		if tagged[name] != count {
			t.Errorf("%d requests %q, want %d: %v", tagged[name], name, count, tagged)
		}
	}
}

func TestFailedImportIsReported(t *testing.T) {
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
			"the job stalls, which is a result", func(m *importer) { m.stallAt = 80 },
			[]string{"STALL_TIMEOUT_SECONDS=2", "PERFLAB_FAILURES=Results"},
			0,
			[4]float64{1, 1, 80, 20},
			0, "import 1 of 1 stalled: no progress in 2 s after 80 of 100 records",
		},
		{
			"records are lost, which is a result", func(m *importer) { m.lost = 1 },
			[]string{"PERFLAB_FAILURES=Results"},
			0,
			[4]float64{1, 1, 99, 1},
			1, "import 1 of 1 ended COMMITTED: 99 of 100 records imported, 1 failed",
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

// onCall rejects every call whose line contains a text.
func onCall(part string, status int) func(string, int) int {
	return func(line string, _ int) int {
		if strings.Contains(line, part) {
			return status
		}
		return 0
	}
}

func TestInvalidImportFailsEarly(t *testing.T) {
	m := newImporter(t)
	tests := []struct {
		name     string
		env      []string
		code     int
		sentence string
	}{
		{
			"no such profile",
			[]string{"RECORD_TYPE=Authority", "JOB_PROFILE=PTF - Create authorities"},
			108, `there is no job profile \"PTF - Create authorities\"; there are \"PTF - Create 2\", \"Other\"`,
		},
		{"connection refused", []string{"BASE_URL=http://127.0.0.1:1"}, 108, "connection refused"},
		{"no such operation", []string{"OPERATION=Delete"}, 107, `environment variable OPERATION is \"Delete\", not one of Create, Update`},
		{"no such update", []string{"OPERATION=Update", "RECORD_TYPE=Authority"}, 107, "only Bibliographic records are updated"},
		{"files that are not split", []string{"FLOW=S3"}, 108, "FLOW S3 needs SPLIT_FILES_ENABLED=true in mod-data-import"},
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
