// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/k6/internal/k6test"
	"perflab.dev/perflab/k6/internal/marctest"
)

func TestHoldingsReferToWhatTheSystemHas(t *testing.T) {
	t.Parallel()
	m := newImporter(t)
	m.step, m.profiles["Holdings"] = 2000, "holdings"
	result := k6test.Run(t, dataImport, importing(m, "RECORD_TYPE=Holdings", "JOB_PROFILE=Holdings", "RECORDS=1001"))
	if result.Code != 0 || totals(result.Payload(t)) != [4]float64{1, 0, 1001, 0} {
		t.Fatalf("exit code %d\n%s", result.Code, result.Stderr)
	}
	records, err := marctest.Read(m.files[0], "nx ")
	if err != nil || len(records) != 1001 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	for n, instance := range map[int]string{0: "in00000000001", 1000: "in00000000002"} {
		if got := marctest.Value(records[n], "004"); got != instance || marctest.Subfield(records[n], "852", "b") != "KU/CC/DI/M" {
			t.Errorf("record %d is of instance %s: %v", n+1, got, records[n])
		}
	}
}

func TestAuthorities(t *testing.T) {
	t.Parallel()
	m := newImporter(t)
	m.profiles["Authorities"] = "authorities"
	result := k6test.Run(t, dataImport, importing(m, "RECORD_TYPE=Authority", "JOB_PROFILE=Authorities", "IMPORTS=2"))
	if result.Code != 0 || totals(result.Payload(t)) != [4]float64{2, 0, 200, 0} {
		t.Fatalf("exit code %d\n%s", result.Code, result.Stderr)
	}
	numbers := map[string]bool{}
	for _, file := range m.files {
		records, err := marctest.Read(file, "nz ")
		k6test.NoError(t, err)
		for _, fields := range records {
			numbers[marctest.Value(fields, "010")] = true
		}
	}
	if len(numbers) != 200 {
		t.Errorf("%d different numbers in 010, want 200", len(numbers))
	}
}

// updating returns the environment of an update whose profile does not exist yet.
func updating(m *importer, own ...string) []string {
	return importing(m, append([]string{"OPERATION=Update", "JOB_PROFILE=PTF - Updates"}, own...)...)
}

func TestUpdatesAreOfWhatWasCreatedAndExported(t *testing.T) {
	for _, flow := range []string{"Upload", "S3"} {
		t.Run(flow, func(t *testing.T) {
			t.Parallel()
			m := newImporter(t)
			m.step, m.storage.split, m.storage.keep = 2000, flow == "S3", true
			result := k6test.Run(t, dataImport, updating(m, "FLOW="+flow, "IMPORTS=2", "RECORDS=1500"))
			p := result.Payload(t)
			if result.Code != 0 || totals(p) != [4]float64{2, 0, 3000, 0} {
				t.Fatalf("exit code %d, counted %v\n%s", result.Code, totals(p), result.Stderr)
			}
			// The records to update are created before the measurement.
			profiles := make([]string, 0, len(m.jobs))
			for _, j := range m.jobs {
				profiles = append(profiles, j.profile)
			}
			if want := []string{"PTF - Create 2", "PTF - Create 2", "PTF - Updates", "PTF - Updates"}; !slices.Equal(profiles, want) {
				t.Fatalf("jobs with %q, want %q", profiles, want)
			}
			for n := range 2 {
				created, updated := m.files[n], m.files[n+2]
				if strings.ReplaceAll(updated, "exported", "") != created || strings.Count(updated, "exported") != 1500 {
					t.Errorf("update %d does not have the records that were exported", n+1)
				}
			}
			if s, _ := p.Summary("Import", "ok"); s.Count != 2 {
				t.Errorf("%d imports measured, want the updates alone", s.Count)
			}
			if !strings.Contains(result.Stderr, "update 2 of 2: 1500 records created in") {
				t.Errorf("the log does not tell of the preparation\n%s", result.Stderr)
			}
		})
	}
}

func TestUpdatesThatCannotBePrepared(t *testing.T) {
	tests := []struct {
		name     string
		how      func(*importer)
		code     int
		sentence string
	}{
		{"records are lost when they are created", func(m *importer) { m.lost = 1 }, 108, "ended COMMITTED with 99 of 100 records"},
		{"the export fails", func(m *importer) { m.exports.status = "FAIL" }, 108, "cannot make what update 1 of 1 needs: the export of 100 instances ended FAIL"},
		{"the export lacks a record", func(m *importer) { m.exports.lost = 1 }, 110, "the export has 99 records instead of 100"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := newImporter(t)
			tt.how(m)
			result := k6test.Run(t, dataImport, updating(m))
			if result.Code != tt.code || !strings.Contains(result.Stderr, tt.sentence) {
				t.Errorf("exit code %d, want %d and %q\n%s", result.Code, tt.code, tt.sentence, result.Stderr)
			}
		})
	}
}

func TestMissingProfilesAreMade(t *testing.T) {
	t.Parallel()
	m := newImporter(t)
	delete(m.profiles, "PTF - Create 2")
	// An earlier attempt created only the first mapping.
	m.made = append(m.made, profile{kind: "mappingProfiles", id: "left-over", content: map[string]any{
		"name": "PTF - Create 2 create instance", "existingRecordType": "INSTANCE",
	}})
	result := k6test.Run(t, dataImport, updating(m))
	if result.Code != 0 {
		t.Fatalf("exit code %d\n%s", result.Code, result.Stderr)
	}
	create := []string{"CREATE INSTANCE by INSTANCE", "CREATE HOLDINGS by HOLDINGS", "CREATE ITEM by ITEM"}
	if got := m.steps("PTF - Create 2"); !slices.Equal(got, create) {
		t.Errorf("the profile to create does %q, want %q", got, create)
	}
	update := []string{
		"match 001: MODIFY MARC_BIBLIOGRAPHIC by MARC_BIBLIOGRAPHIC", "match 901a: UPDATE HOLDINGS by HOLDINGS", "match 902a: UPDATE ITEM by ITEM",
	}
	if got := m.steps("PTF - Updates"); !slices.Equal(got, update) {
		t.Errorf("the profile to update does %q, want %q", got, update)
	}
	if !strings.Contains(result.Stderr, `made the job profile \"PTF - Updates\", which was not there`) {
		t.Errorf("the log does not say what was made\n%s", result.Stderr)
	}
}

// s3Calls are the calls of one import of a split file, without those that poll the job.
var s3Calls = []string{
	`GET /data-import/splitStatus`,
	`POST /data-import/uploadDefinitions`,
	`GET /data-import/uploadUrl?filename=<name>.mrc`,
	`POST /data-import/uploadDefinitions/<upload>/files/<file>/assembleStorageFile`,
	`GET /data-import-profiles/jobProfiles?limit=5000`,
	`GET /data-import-profiles/jobProfiles/` + profileID,
	`GET /data-import-profiles/profileSnapshots/` + profileID + `?profileType=JOB_PROFILE&jobProfileId=` + profileID,
	`GET /data-import/uploadDefinitions/<upload>`,
	`POST /data-import/uploadDefinitions/<upload>/processFiles?defaultMapping=false`,
	`GET /change-manager/jobExecutions/<job>/children?limit=1000&offset=0`,
	`GET /metadata-provider/jobSummary/<child>`,
}

func TestSplitFilesGoThroughTheStorage(t *testing.T) {
	t.Parallel()
	m := newImporter(t)
	m.storage.split, m.storage.keep = true, true
	m.accessLife, m.sessionLife = time.Minute, time.Hour
	result := k6test.Run(t, dataImport, importing(m, "FLOW=S3", "IMPORTS=2", "LOGIN=Expiring"))
	p := result.Payload(t)
	if result.Code != 0 || totals(p) != [4]float64{2, 0, 200, 0} || p.Total("perflab_child_jobs") != 2 || p.Total("perflab_child_jobs_failed") != 0 {
		t.Fatalf("exit code %d, counted %v and %v children\n%s", result.Code, totals(p), p.Total("perflab_child_jobs"), result.Stderr)
	}
	var own []string
	for _, c := range m.conversations()[1] {
		if !strings.Contains(c.line, "/jobExecutions?") {
			own = append(own, c.line)
		}
	}
	if len(own) != 2*len(s3Calls) {
		t.Fatalf("%d calls for two imports, want %d:\n%s", len(own), 2*len(s3Calls), strings.Join(own, "\n"))
	}
	for i, line := range own {
		if err := match(s3Calls[i%len(s3Calls)], line, map[string]string{}); err != nil {
			t.Error(err)
		}
	}
	if records, err := marctest.Read(m.files[1], "cam"); err != nil || len(records) != 100 {
		t.Errorf("the second file has %d records, %v", len(records), err)
	}
	job, _ := p.Summary("Import job", "ok")
	if job.Count != 2 || job.Mean != m.dates {
		t.Errorf("Import job = %+v, want 2 of %v", job, m.dates)
	}
}

func TestStoppedChildrenAreAPartialFailure(t *testing.T) {
	t.Parallel()
	m := newImporter(t)
	m.storage.split, m.step = true, 30_000
	m.stopped = map[int]string{7: "ERROR", 20: "ERROR", 33: "CANCELLED", 100: "ERROR"}
	result := k6test.Run(t, dataImport, importing(m, "FLOW=S3", "RECORDS=100000"))
	p := result.Payload(t)
	if result.Code != 110 || totals(p) != [4]float64{1, 1, 98000, 2000} {
		t.Errorf("exit code %d, counted %v", result.Code, totals(p))
	}
	if p.Total("perflab_child_jobs") != 100 || p.Total("perflab_child_jobs_failed") != 4 || counted(t, p, "Import", "ok") != 0 {
		t.Errorf("%v of %v children failed", p.Total("perflab_child_jobs_failed"), p.Total("perflab_child_jobs"))
	}
	const sentence = "98000 of 100000 records imported, 2000 failed; 4 of 100 jobs of its parts did not end COMMITTED (1 CANCELLED, 3 ERROR)"
	if !strings.Contains(result.Stderr, sentence) {
		t.Errorf("the log lacks %q\n%s", sentence, result.Stderr)
	}
}

func TestStalledSplitFileTellsItsChildren(t *testing.T) {
	t.Parallel()
	m := newImporter(t)
	m.storage.split, m.step, m.stallAt = true, 2000, 4000
	m.stopped = map[int]string{5: "PROCESSING_IN_PROGRESS"}
	result := k6test.Run(t, dataImport, importing(m, "FLOW=S3", "RECORDS=5000", "STALL_TIMEOUT_SECONDS=2"))
	p := result.Payload(t)
	if result.Code != 108 || totals(p) != [4]float64{1, 1, 4000, 1000} || p.Total("perflab_child_jobs_failed") != 1 {
		t.Errorf("exit code %d, counted %v, %v children failed\n%s", result.Code, totals(p), p.Total("perflab_child_jobs_failed"), result.Stderr)
	}
}

func TestUnreachableStorageIsReported(t *testing.T) {
	t.Parallel()
	m := newImporter(t)
	m.storage.split = true
	m.storage.URL = "http://127.0.0.1:1" // No server can take this port at random.
	result := k6test.Run(t, dataImport, importing(m, "FLOW=S3"))
	if result.Code != 110 || !strings.Contains(result.Stderr, "runners must reach the storage under the host that its URLs name") {
		t.Errorf("exit code %d\n%s", result.Code, result.Stderr)
	}
}

// The levels of a capacity test are imports of different sizes.
func TestImportsOfDifferentSizes(t *testing.T) {
	t.Parallel()
	m := newImporter(t)
	result := k6test.Run(t, dataImport, importing(m, "PERFLAB_LEVELS=20,300", "PAUSE_SECONDS=0"))
	p := result.Payload(t)
	if result.Code != 0 || totals(p) != [4]float64{2, 0, 320, 0} {
		t.Fatalf("exit code %d, counted %v\n%s", result.Code, totals(p), result.Stderr)
	}
	for _, transaction := range []string{"Import job 1", "Import job 2"} {
		if job, _ := p.Summary(transaction, "ok"); job.Count != 1 {
			t.Errorf("%s: %+v", transaction, job)
		}
	}
	for _, wrong := range []string{"20,x", "20,,300"} {
		refused := k6test.Run(t, dataImport, importing(m, "PERFLAB_LEVELS="+wrong))
		if refused.Code == 0 || !strings.Contains(refused.Stderr, "not a whole number from 1 to 999999") {
			t.Errorf("%s: exit code %d\n%s", wrong, refused.Code, refused.Stderr)
		}
	}
}

// Imports at the same time are defined and sent one after another, and followed together.
func TestParallelImports(t *testing.T) {
	t.Parallel()
	m := newImporter(t)
	result := k6test.Run(t, dataImport, importing(m, "IMPORTS=5", "PARALLEL=2"))
	p := result.Payload(t)
	if result.Code != 0 || totals(p) != [4]float64{5, 0, 500, 0} {
		t.Fatalf("exit code %d, counted %v\n%s", result.Code, totals(p), result.Stderr)
	}
	for transaction, want := range map[string]int64{"Import job": 5, "Import batch": 3, "Import job 1": 2, "Import job 3": 1, "Import batch 1": 0} {
		if got, _ := p.Summary(transaction, "ok"); got.Count != want {
			t.Errorf("%s: %d, want %d", transaction, got.Count, want)
		}
	}
}

// The levels of a capacity test are numbers of parallel imports. One of them fails.
func TestLevelsOfParallelImports(t *testing.T) {
	t.Parallel()
	m := newImporter(t)
	m.failing = "job-3"
	result := k6test.Run(t, dataImport, importing(m, "PERFLAB_LEVELS=1,3", "PARALLEL=4", "PERFLAB_FAILURES=Results"))
	p := result.Payload(t)
	if result.Code != 0 || totals(p)[0] != 4 || totals(p)[1] != 1 {
		t.Fatalf("exit code %d, counted %v\n%s", result.Code, totals(p), result.Stderr)
	}
	for transaction, want := range map[[2]string]int64{
		{"Import job 1", "ok"}: 1, {"Import batch 1", "ok"}: 1,
		{"Import job 2", "ok"}: 2, {"Import job 2", "error"}: 1, {"Import batch 2", "error"}: 1,
	} {
		if got, _ := p.Summary(transaction[0], transaction[1]); got.Count != want {
			t.Errorf("%s: %d, want %d", transaction, got.Count, want)
		}
	}
	refused := k6test.Run(t, dataImport, importing(m, "PERFLAB_LEVELS=1,30", "PARALLEL=4"))
	if refused.Code == 0 || !strings.Contains(refused.Stderr, "not a whole number from 1 to 20") {
		t.Errorf("exit code %d\n%s", refused.Code, refused.Stderr)
	}
}

// TestManyImportsInTurn is a small longevity test.
func TestManyImportsInTurn(t *testing.T) {
	t.Parallel()
	m := newImporter(t)
	began := time.Now()
	result := k6test.Run(t, dataImport, importing(m, "IMPORTS=12", "PAUSE_SECONDS=0.5"))
	p := result.Payload(t)
	if result.Code != 0 || totals(p) != [4]float64{12, 0, 1200, 0} {
		t.Fatalf("exit code %d, counted %v\n%s", result.Code, totals(p), result.Stderr)
	}
	if job, _ := p.Summary("Import job", "ok"); job.Count != 12 || job.Mean != m.dates {
		t.Errorf("Import job = %+v", job)
	}
	// 3 s before each upload, 0.4 s of polls, 11 pauses.
	if took := time.Since(began); took < 46*time.Second {
		t.Errorf("12 imports took %v: the pauses are missing", took)
	}
	if p.Total("perflab_records") != 1200 {
		t.Errorf("%v records", p.Total("perflab_records"))
	}
}

// TestLargeFilesAreNeverWholeInMemory sends 100,000 records, 160 MB, in parts and limits the
// memory of k6.
func TestLargeFilesAreNeverWholeInMemory(t *testing.T) {
	t.Parallel()
	const boundMiB = 320
	m := newImporter(t)
	m.storage.split, m.step = true, 200_000
	process := k6test.Start(t, dataImport, importing(m, "FLOW=S3", "RECORDS=100000", "IMPORTS=2"))
	result := process.Wait()
	p := result.Payload(t)
	if result.Code != 0 || totals(p) != [4]float64{2, 0, 200_000, 0} || p.Total("perflab_child_jobs") != 200 {
		t.Fatalf("exit code %d, counted %v\n%s", result.Code, totals(p), result.Stderr)
	}
	sum := 0
	for _, size := range m.storage.sizes {
		sum += size
	}
	most := process.MaxMemory() >> 20
	t.Logf("%d MB in %d parts, k6 took %d MiB", sum/1_000_000, len(m.storage.sizes), most)
	if sum < 150_000_000 || len(m.storage.sizes) < 6 {
		t.Errorf("%d bytes in %d parts", sum, len(m.storage.sizes))
	}
	if most > boundMiB {
		t.Errorf("k6 took %d MiB, more than %d", most, boundMiB)
	}
}
