// SPDX-License-Identifier: Apache-2.0

// Package dataimport is the kind of loads that import files of MARC records.
package dataimport

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/prose"
)

type dataImport struct {
	kind.Defaults
	*v1alpha1.DataImport
	name string
}

// FromLoad returns the load if it is of this kind; else false.
func FromLoad(load v1alpha1.Load) (kind.Kind, bool) {
	return dataImport{DataImport: load.DataImport, name: load.Name}, load.DataImport != nil
}

func (dataImport) Source() kind.Source { return kind.Source{File: "/scripts/data-import.js"} }

func (dataImport) IsFOLIO() bool { return true }

func (i dataImport) Environment(time.Duration) []corev1.EnvVar {
	env := []corev1.EnvVar{
		{Name: "RECORD_TYPE", Value: string(i.RecordType)},
		{Name: "OPERATION", Value: string(i.Operation)},
		{Name: "JOB_PROFILE", Value: i.JobProfileOrDefault()},
		{Name: "RECORDS", Value: strconv.Itoa(int(i.Records))},
		{Name: "IMPORTS", Value: strconv.Itoa(int(i.Imports))},
		{Name: "PAUSE_SECONDS", Value: kind.Seconds(i.Pause)},
	}
	if i.Parallel > 0 {
		env = append(env, corev1.EnvVar{Name: "PARALLEL", Value: strconv.Itoa(int(i.Parallel))})
	}
	if i.Flow != "" {
		env = append(env, corev1.EnvVar{Name: "FLOW", Value: string(i.Flow)})
	}
	if i.StallTimeout != nil {
		env = append(env, corev1.EnvVar{Name: "STALL_TIMEOUT_SECONDS", Value: kind.Seconds(i.StallTimeout)})
	}
	return env
}

// Length derives from the records, and the pauses between files. Parallel imports share the rate.
func (i dataImport) Length(assumed kind.Assumptions) (kind.Length, error) {
	files := time.Duration(max(1, i.Imports))
	lasts := files * time.Duration(float64(i.Records)/assumed.RecordsPerSecond*float64(time.Second))
	if i.Pause != nil {
		lasts += time.Duration(i.batches()-1) * i.Pause.Duration
	}
	return kind.Length{Lasts: lasts, Assumes: fmt.Sprintf("imports process %g records per second", assumed.RecordsPerSecond)}, nil
}

func (i dataImport) Primary() []string { return []string{metric.Name(i.name, metric.Duration)} }

func (i dataImport) Statistics() []string {
	known := metric.ImportStatistics()
	for part := 1; part <= i.parts(); part++ {
		known = append(known, metric.Name(metric.Part(part), metric.Duration))
	}
	return known
}

// operation describes the import.
func (i dataImport) operation() string {
	return cmp.Or(strings.ToLower(strings.TrimSpace(string(i.Operation)+" "+string(i.RecordType))), "create bibliographic")
}

// Size returns the number of records.
func (i dataImport) Size() (number int64, of, like string) {
	return int64(i.Records), "records", i.operation()
}

func (i dataImport) Describe() string {
	operation := i.operation()
	text := fmt.Sprintf("%s, %s", operation, prose.Counted(i.Records, "record"))
	if i.Imports > 1 {
		text = fmt.Sprintf("%s, %s of %s", operation, prose.Counted(i.Imports, "import"), prose.Counted(i.Records, "record"))
		if i.Parallel > 1 {
			text += fmt.Sprintf(", %d at a time", i.Parallel)
		}
		if i.Pause != nil && i.Pause.Duration > 0 {
			text += fmt.Sprintf(" with pauses of %s", prose.Duration(i.Pause.Duration))
		}
	}
	if i.Flow == v1alpha1.FlowS3 {
		text += ", through S3"
	}
	return text + fmt.Sprintf(", job profile “%s”", i.JobProfileOrDefault())
}

// Progress includes the records, if there are any.
func (i dataImport) Progress(last *v1alpha1.LoadProgress) string {
	if last.Records == nil {
		return i.Defaults.Progress(last)
	}
	return fmt.Sprintf("%d of %d records", *last.Records, int64(i.Records)*int64(max(i.Imports, 1)))
}

func (dataImport) Terms() kind.BatchTerms {
	return kind.BatchTerms{
		Verb: "imports", Noun: "Import", Title: "Imports",
		Durations:  "Durations of imports, from the import jobs' timestamps",
		Rates:      "Records imported per second",
		RateMetric: metric.RecordsPerSecond,
	}
}
