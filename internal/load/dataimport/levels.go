// SPDX-License-Identifier: Apache-2.0

package dataimport

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/steps"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/observation"
	"perflab.dev/perflab/payload"
)

// LevelUnit is records, each level an import of this many, or parallel imports, each level this many
// imports at the same time.
func (i dataImport) LevelUnit() string {
	if i.Parallel > 0 {
		return "parallel imports"
	}
	return "records"
}

// LevelsAreUsers is false: they are records or imports.
func (dataImport) LevelsAreUsers(kind.ConfigMaps) bool { return false }

// Effort is unknown: an import takes one user for any number of records.
func (dataImport) Effort(int32, kind.ConfigMaps) (kind.Effort, bool) { return kind.Effort{}, false }

// LevelVariables are the levels, with that of the warm-up.
func (dataImport) LevelVariables(levels steps.Steps) []corev1.EnvVar {
	var texts []string
	for _, level := range levels.Units() {
		texts = append(texts, strconv.Itoa(int(level)))
	}
	return []corev1.EnvVar{{Name: "PERFLAB_LEVELS", Value: strings.Join(texts, ",")}}
}

// LevelMetrics are the mean duration of a level's imports, and their rate.
func (i dataImport) LevelMetrics() []string {
	return []string{metric.Name(i.name, metric.Duration), metric.Name(i.name, metric.RecordsPerSecond)}
}

// ObserveLevel returns the duration and the rate of a level's imports. The client counts them when it
// sees the end of the last job, up to one polling interval late.
func (i dataImport) ObserveLevel(measured *payload.Payload, levels steps.Steps, index int) kind.BatchLevel {
	level, batch := levels.Levels[index], levels.WarmUps()+index+1
	whole, records := transactionImportJob, level
	if i.Parallel > 0 {
		whole, records = transactionImportBatch, level*i.Records
	}
	whole = numbered(whole, batch)
	took, ended := measured.Summary(whole, "")
	if !ended || took.Mean <= 0 {
		return kind.BatchLevel{}
	}
	end := measured.LastEnd(whole)
	done := kind.BatchLevel{From: end.Add(-took.Mean), To: end}
	_, succeeded := measured.Summary(whole, payload.OK)
	if jobs, known := measured.Summary(numbered(transactionImportJob, batch), payload.OK); succeeded && known {
		done.Observations = []v1alpha1.Observation{
			observation.New(i.name, metric.Duration, jobs.Mean.Seconds(), jobs.Count),
			observation.New(i.name, metric.RecordsPerSecond, float64(records)/took.Mean.Seconds(), 0),
		}
	}
	return done
}

// Whole has the records of all levels in one import.
func (i dataImport) Whole(levels steps.Steps) v1alpha1.Load {
	sum := int32(0)
	for _, level := range levels.Units() {
		sum += level
	}
	whole := *i.DataImport
	whole.Imports, whole.Parallel, whole.Records = 1, 0, sum
	if i.Parallel > 0 {
		whole.Records *= i.Records
	}
	return v1alpha1.Load{Name: i.name, DataImport: &whole}
}

// numbered is the transaction of one batch.
func numbered(transaction string, batch int) string { return fmt.Sprintf("%s %d", transaction, batch) }
