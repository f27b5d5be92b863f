// SPDX-License-Identifier: Apache-2.0

package dataimport_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/dataimport"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/yamlcmp"
	"perflab.dev/perflab/payload"
)

// create returns a load with these settings.
func create(t *testing.T, settings string) kind.Batch {
	t.Helper()
	load := v1alpha1.Load{Name: "create", DataImport: &v1alpha1.DataImport{Records: 400, Imports: 1}}
	expect.NoError(t, yaml.Unmarshal([]byte(settings), load.DataImport))
	found, is := dataimport.FromLoad(load)
	if !is {
		t.Fatal("a load that imports is not of this kind")
	}
	return found.(kind.Batch)
}

func TestEnvironment(t *testing.T) {
	for name, test := range map[string]struct{ settings, want string }{
		"an import": {
			`{recordType: Bibliographic, operation: Create}`,
			`{RECORD_TYPE: Bibliographic, OPERATION: Create, JOB_PROFILE: PTF - Create 2, RECORDS: "400", IMPORTS: "1", PAUSE_SECONDS: "0"}`,
		},
		"imports with all settings": {
			`{recordType: Bibliographic, operation: Update, flow: S3, jobProfile: Mine, imports: 3, parallel: 2, pause: 1m, stallTimeout: 5m}`,
			`{RECORD_TYPE: Bibliographic, OPERATION: Update, FLOW: S3, JOB_PROFILE: Mine, RECORDS: "400", IMPORTS: "3", PARALLEL: "2", PAUSE_SECONDS: "60", STALL_TIMEOUT_SECONDS: "300"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			values := map[string]string{}
			for _, variable := range create(t, test.settings).Environment(time.Hour) {
				values[variable.Name] = variable.Value
			}
			yamlcmp.Equal(t, values, test.want)
		})
	}
}

func TestLength(t *testing.T) {
	for settings, want := range map[string]time.Duration{
		`{}`:                                   16 * time.Second,
		`{imports: 3}`:                         48 * time.Second,
		`{imports: 3, pause: 1m}`:              168 * time.Second,
		`{imports: 3, parallel: 2, pause: 1m}`: 108 * time.Second,
		`{imports: 0, records: 5}`:             200 * time.Millisecond,
	} {
		length, err := create(t, settings).Length(kind.Assumptions{RecordsPerSecond: 25})
		if err != nil || length.Lasts != want || length.Assumes != "imports process 25 records per second" {
			t.Errorf("%s: %+v, %v; want %s", settings, length, err, want)
		}
	}
}

func TestDescribe(t *testing.T) {
	for settings, want := range map[string]string{
		`{}`: "create bibliographic, 400 records, job profile “PTF - Create 2”",
		`{operation: Update, recordType: Bibliographic, flow: S3}`: "update bibliographic, 400 records, through S3, job profile “PTF - Updates Success - 1”",
		`{recordType: Holdings, imports: 2, pause: 1m}`:            "holdings, 2 imports of 400 records with pauses of 1m, job profile “Default - Create Holdings and SRS MARC Holdings”",
		`{imports: 6, parallel: 2, pause: 1m}`:                     "create bibliographic, 6 imports of 400 records, 2 at a time with pauses of 1m, job profile “PTF - Create 2”",
	} {
		expect.Equal(t, want, create(t, settings).Describe(), "%s", settings)
	}
}

func TestProgress(t *testing.T) {
	progress := v1alpha1.LoadProgress{Users: 1, RequestsPerSecond: "2"}
	if got := create(t, `{}`).Progress(&progress); got != "1 user, 2 requests/s" {
		t.Errorf("before the first record: %q", got)
	}
	progress.Records = new(int64(300))
	if got := create(t, `{imports: 2}`).Progress(&progress); got != "300 of 800 records" {
		t.Errorf("in the middle: %q", got)
	}
}

// imported returns the measurements of a load of one file.
func imported(counters map[string]float64) *payload.Payload {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	end := start.Add(9 * time.Second)
	measured := payload.New("create", "run", "1", start)
	measured.Record("Import", "ok", end, 10*time.Second)
	measured.Record("Import job", "ok", end, 8*time.Second)
	for counter, value := range counters {
		measured.Count("perflab_"+counter, end, value)
	}
	return measured
}

func TestObserve(t *testing.T) {
	got := map[string]string{}
	for _, observation := range create(t, `{}`).Observe(imported(map[string]float64{"imports": 1, "records": 400, "child_jobs": 2})) {
		got[observation.Metric] = observation.Value
	}
	yamlcmp.Equal(t, got, `
create/duration: "8"
create/clientDuration: "10"
create/recordsPerSecond: "50"
create/imports: "1"
create/failedImports: "0"
create/records: "400"
create/failedRecords: "0"
create/childJobs: "2"
create/failedChildJobs: "0"
`)
	for name := range got {
		if _, statistic := metric.CutStatistic(name); !slices.Contains(create(t, `{}`).Statistics(), statistic) {
			t.Errorf("%s is observed, and would be refused in a question", name)
		}
	}
}

func TestObserveListsEachImport(t *testing.T) {
	measured := imported(map[string]float64{"imports": 2, "records": 800})
	measured.Record("Import job 1", "ok", measured.Start.Add(4*time.Second), 3*time.Second)
	measured.Record("Import job 2", "error", measured.Start.Add(8*time.Second), 4*time.Second)
	load := create(t, `{imports: 2}`)
	got := map[string]string{}
	for _, observation := range load.Observe(measured) {
		if m := metric.Parse(observation.Metric); m.Part > 0 {
			got[observation.Metric] = observation.Value + " " + observation.Unit
		}
	}
	yamlcmp.Equal(t, got, `create/import-1/duration: 3 s`)
	known := load.Statistics()
	if !slices.Contains(known, "import-2/duration") || slices.Contains(known, "import-3/duration") {
		t.Errorf("in a question may stand %v", known)
	}
}

func TestCheckRequiresEveryRecord(t *testing.T) {
	for name, test := range map[string]struct {
		settings string
		counters map[string]float64
		says     string
	}{
		"all":             {`{}`, map[string]float64{"imports": 1, "records": 400}, ""},
		"too many failed": {`{imports: 5}`, map[string]float64{"imports": 5, "imports_failed": 3, "records": 800}, "5 of 5 imports ended, 3 failed; validity.maxFailedImports allows 2 to fail, and at least one must succeed"},
		"some may fail":   {`{imports: 5}`, map[string]float64{"imports": 5, "imports_failed": 2, "records": 1300, "records_failed": 700, "child_jobs": 9, "child_jobs_failed": 2}, ""},
		"not all":         {`{imports: 2}`, map[string]float64{"imports": 2, "imports_failed": 2}, "2 of 2 imports ended, 2 failed"},
		"one is missing":  {`{imports: 5}`, map[string]float64{"imports": 4, "imports_failed": 1, "records": 1200}, "4 of 5 imports ended, 1 failed"},
		"import missing":  {`{imports: 2}`, map[string]float64{"imports": 1, "records": 400}, `load "create": 1 of 2 imports ended, 0 failed`},
		"import failed":   {`{}`, map[string]float64{"imports": 1, "imports_failed": 1, "records": 400}, "1 of 1 import ended, 1 failed"},
		"records failed":  {`{}`, map[string]float64{"imports": 1, "records": 400, "records_failed": 3}, "400 of 400 records were imported, 3 failed"},
		"records missing": {`{}`, map[string]float64{"imports": 1, "records": 390}, "390 of 400 records were imported, 0 failed"},
		"jobs failed": {
			`{}`,
			map[string]float64{"imports": 1, "imports_failed": 1, "child_jobs": 100, "child_jobs_failed": 4, "records": 384},
			"4 of 100 jobs of split files failed or were canceled",
		},
	} {
		t.Run(name, func(t *testing.T) {
			fault := create(t, test.settings).Check(imported(test.counters), v1alpha1.Validity{MaxFailedImports: new(int32(2))})
			if (fault == nil) != (test.says == "") {
				t.Fatalf("got %+v, want %q", fault, test.says)
			}
			if fault != nil && (fault.Reason != v1alpha1.ReasonImportIncomplete || !strings.Contains(fault.Message, test.says)) {
				t.Errorf("got %+v, want %q", fault, test.says)
			}
		})
	}
}
