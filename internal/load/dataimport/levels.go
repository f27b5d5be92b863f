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

// LevelVariables are the records of each import.
func (dataImport) LevelVariables(levels steps.Steps) []corev1.EnvVar {
	texts := make([]string, len(levels.Levels))
	for i, level := range levels.Levels {
		texts[i] = strconv.Itoa(int(level))
	}
	return []corev1.EnvVar{{Name: "PERFLAB_LEVELS", Value: strings.Join(texts, ",")}}
}

// LevelMetrics are the duration of a level's import, and its rate.
func (i dataImport) LevelMetrics() []string {
	return []string{metric.Name(i.name, metric.Duration), metric.Name(i.name, metric.RecordsPerSecond)}
}

// ObserveLevel returns the duration and the rate of a level's import.
func (i dataImport) ObserveLevel(measured *payload.Payload, index int, level int32) []v1alpha1.Observation {
	job, ok := measured.Summary(fmt.Sprintf("%s %d", transactionImportJob, index+1), payload.OK)
	if !ok || job.Mean <= 0 {
		return nil
	}
	return []v1alpha1.Observation{
		observation.New(i.name, metric.Duration, job.Mean.Seconds(), job.Count),
		observation.New(i.name, metric.RecordsPerSecond, float64(level)/job.Mean.Seconds(), 0),
	}
}
