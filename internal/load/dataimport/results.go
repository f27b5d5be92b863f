// SPDX-License-Identifier: Apache-2.0

package dataimport

import (
	"fmt"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/observation"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
)

// Names that data-import.js uses; see k6/README.md.
const (
	transactionImport    = "Import"
	transactionImportJob = "Import job"
	// From the start of the first parallel job to the end of the last one.
	transactionImportBatch = "Import batch"
	counterImports         = "perflab_imports"
	counterImportsFailed   = "perflab_imports_failed"
	counterRecords         = "perflab_records"
	counterRecordsFailed   = "perflab_records_failed"
	// Jobs of a split file.
	counterChildJobs       = "perflab_child_jobs"
	counterChildJobsFailed = "perflab_child_jobs_failed"
)

// mostParts is the number of batches of a series that data-import.js records individually.
const mostParts = 100

// batches returns the number of times that imports start: one at a time, or parallel ones together.
func (i dataImport) batches() int {
	parallel := max(1, int(i.Parallel))
	return (max(1, int(i.Imports)) + parallel - 1) / parallel
}

// parts returns the number of individually recorded batches of a series.
func (i dataImport) parts() int {
	if i.batches() < 2 {
		return 0
	}
	return min(i.batches(), mostParts)
}

// Check reports whether every record of every file was imported, except imports that may
// fail.
func (i dataImport) Check(measured *payload.Payload, validity v1alpha1.Validity) *kind.Fault {
	imports, failed := measured.Total(counterImports), measured.Total(counterImportsFailed)
	if imports == float64(i.Imports) && failed > 0 && failed < imports && failed <= float64(validity.MaxFailedImportsOrDefault()) {
		return nil
	}
	if children := measured.Total(counterChildJobsFailed); children > 0 {
		return kind.Faultf(v1alpha1.ReasonImportIncomplete, "load %q: %d of %s of split files failed or were canceled",
			i.name, int(children), prose.Counted(int(measured.Total(counterChildJobs)), "job"))
	}
	if failed > 0 || imports != float64(i.Imports) {
		return kind.Faultf(v1alpha1.ReasonImportIncomplete, "load %q: %d of %s ended, %d failed%s",
			i.name, int(imports), prose.Counted(i.Imports, "import"), int(failed), i.allowed(validity))
	}
	wanted := float64(i.Imports) * float64(i.Records)
	records, lost := measured.Total(counterRecords), measured.Total(counterRecordsFailed)
	if lost > 0 || records != wanted {
		return kind.Faultf(v1alpha1.ReasonImportIncomplete, "load %q: %d of %s were imported, %d failed",
			i.name, int(records), prose.Counted(int(wanted), "record"), int(lost))
	}
	return nil
}

// allowed returns the number of imports of a series that may fail.
func (i dataImport) allowed(validity v1alpha1.Validity) string {
	if i.Imports < 2 {
		return ""
	}
	return fmt.Sprintf("; validity.maxFailedImports allows %d to fail, and at least one must succeed", validity.MaxFailedImportsOrDefault())
}

// Observe uses the durations of the jobs, from their timestamps. The client's durations
// include the upload and up to one polling interval.
func (i dataImport) Observe(measured *payload.Payload) []v1alpha1.Observation {
	records, failed := measured.Total(counterRecords), measured.Total(counterImportsFailed)
	observations := []v1alpha1.Observation{
		observation.New(i.name, metric.Imports, measured.Total(counterImports), 0),
		observation.New(i.name, metric.FailedImports, failed, 0),
		observation.New(i.name, metric.Records, records, 0),
		observation.New(i.name, metric.FailedRecords, measured.Total(counterRecordsFailed), 0),
	}
	if children := measured.Total(counterChildJobs); children > 0 {
		observations = append(observations,
			observation.New(i.name, metric.ChildJobs, children, 0),
			observation.New(i.name, metric.FailedChildJobs, measured.Total(counterChildJobsFailed), 0),
		)
	}
	if job, ok := measured.Summary(transactionImportJob, payload.OK); ok {
		observations = append(observations, observation.New(i.name, metric.Duration, job.Mean.Seconds(), job.Count))
		whole := job
		if batch, ok := measured.Summary(transactionImportBatch, payload.OK); ok {
			whole = batch
		}
		// The duration of a failed import is unknown.
		if total := whole.Mean.Seconds() * float64(whole.Count); total > 0 && failed == 0 {
			observations = append(observations, observation.New(i.name, metric.RecordsPerSecond, records/total, 0))
		}
	}
	for part := 1; part <= i.parts(); part++ {
		if one, ok := measured.Summary(numbered(transactionImportJob, part), payload.OK); ok {
			observations = append(observations, observation.New(metric.Name(i.name, metric.Part(part)), metric.Duration, one.Mean.Seconds(), one.Count))
		}
	}
	if client, ok := measured.Summary(transactionImport, payload.OK); ok {
		observations = append(observations, observation.New(i.name, metric.ClientDuration, client.Mean.Seconds(), client.Count))
	}
	return observations
}
