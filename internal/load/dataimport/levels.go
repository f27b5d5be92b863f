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

// LevelUnit is records: each level is an import of this many.
func (dataImport) LevelUnit() string { return "records" }

// LevelsAreUsers is false: they are records.
func (dataImport) LevelsAreUsers(kind.ConfigMaps) bool { return false }

// Effort is unknown: an import takes one user for any number of records.
func (dataImport) Effort(int32, kind.ConfigMaps) (kind.Effort, bool) { return kind.Effort{}, false }

// LevelVariables are the records of each import: one at the middle level to warm up, unless there is
// no warm-up, and one for each level.
func (dataImport) LevelVariables(levels steps.Steps) []corev1.EnvVar {
	var texts []string
	if levels.WarmUps() > 0 && len(levels.Levels) > 0 {
		texts = append(texts, strconv.Itoa(int(levels.Middle())))
	}
	for _, level := range levels.Levels {
		texts = append(texts, strconv.Itoa(int(level)))
	}
	return []corev1.EnvVar{{Name: "PERFLAB_LEVELS", Value: strings.Join(texts, ",")}}
}

// LevelMetrics are the duration of a level's import, and its rate.
func (i dataImport) LevelMetrics() []string {
	return []string{metric.Name(i.name, metric.Duration), metric.Name(i.name, metric.RecordsPerSecond)}
}

// ObserveLevel returns the duration and the rate of a level's import. The client counts it when it
// sees the end of the job, up to one polling interval late.
func (i dataImport) ObserveLevel(measured *payload.Payload, levels steps.Steps, index int) kind.BatchLevel {
	transaction := fmt.Sprintf("%s %d", transactionImportJob, levels.WarmUps()+index+1)
	job, ended := measured.Summary(transaction, "")
	if !ended || job.Mean <= 0 {
		return kind.BatchLevel{}
	}
	end := measured.LastEnd(transaction)
	done := kind.BatchLevel{From: end.Add(-job.Mean), To: end}
	if _, succeeded := measured.Summary(transaction, payload.OK); succeeded {
		done.Observations = []v1alpha1.Observation{
			observation.New(i.name, metric.Duration, job.Mean.Seconds(), job.Count),
			observation.New(i.name, metric.RecordsPerSecond, float64(levels.Levels[index])/job.Mean.Seconds(), 0),
		}
	}
	return done
}
