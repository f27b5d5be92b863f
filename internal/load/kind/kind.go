// SPDX-License-Identifier: Apache-2.0

// Package kind defines the interface of a kind of load. Each kind is a package next to this
// one; package kinds lists them. They are pure.
package kind

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/steps"
	"perflab.dev/perflab/payload"
)

// Kind is a load of a kind. Defaults has the default answers.
type Kind interface {
	Runner
	Judge

	// Describe summarizes the load.
	Describe() string
	// Progress describes the last reported progress.
	Progress(last *v1alpha1.LoadProgress) string
	// Length returns the duration of a load without a declared one. The error is the reason why it
	// is unknown.
	Length(assumed Assumptions) (Length, error)

	// Transactions of the load, by name; empty if unknown before the run.
	Transactions() []string
	// Statistics of the load's metrics.
	Statistics() []string
	// Primary returns the load's default primary metrics.
	Primary() []string
}

// Runner configures a load's k6.
type Runner interface {
	// Source returns the k6 script.
	Source() Source
	// Image with k6; empty for the operator's.
	Image() string
	// Arguments for k6 run, besides those of every load.
	Arguments() []string
	// Environment of the script, besides that of every load. longest is the maximum
	// duration of the load.
	Environment(longest time.Duration) []corev1.EnvVar
	// Volumes with the load's own data, and their mounts.
	Volumes() ([]corev1.Volume, []corev1.VolumeMount)
	// WritesFiles reports whether the script may write any files.
	WritesFiles() bool
	// Results returns the format of k6's results.
	Results() v1alpha1.ScriptResults
}

// Judge validates a load, before and after it has run.
type Judge interface {
	// IsFOLIO reports whether the load needs a FOLIO, in which it logs in.
	IsFOLIO() bool
	// Validate returns errors and warnings that the API server can't find. path is the
	// load's; configMaps are the available ones.
	Validate(path *field.Path, configMaps ConfigMaps) (field.ErrorList, []Warning)
	// JudgesRequests reports whether too many failed requests or checks make a run invalid,
	// because transactions don't count failures.
	JudgesRequests() bool
	// Check returns why the measured results are invalid by rules of the kind; nil if they
	// are valid.
	Check(measured *payload.Payload, validity v1alpha1.Validity) *Fault
}

// ScriptKind is a kind of load whose script declares the transactions.
type ScriptKind interface {
	Kind
	// DeclaredTransactions returns the sorted transactions in the available script; false
	// if there may be others.
	DeclaredTransactions(configMaps ConfigMaps) (transactions []string, complete bool)
	// NoTransactions warns of a script without transactions. path is the load's.
	NoTransactions(path *field.Path) Warning
	// CountsFailures reports whether transactions can fail: k6 does not report whether a
	// group succeeded.
	CountsFailures() bool
}

// Stepped is a kind of load that can visit several levels.
type Stepped interface {
	Kind
	// LevelUnit is what levels count: users.
	LevelUnit() string
	// LevelsAreUsers reports whether levels are users, who wait for each response, and not a
	// rate; false if that is unknown. configMaps are the available ones.
	LevelsAreUsers(configMaps ConfigMaps) bool
	// Effort returns what k6 needs for a level; false if that is unknown.
	Effort(level int32, configMaps ConfigMaps) (Effort, bool)
	// LevelVariables return the levels for the script.
	LevelVariables(levels steps.Steps) []corev1.EnvVar
}

// Effort is what k6 needs for a level, in total over a load's runners.
type Effort struct {
	Users int64
	// UserBytes is the memory of a user.
	UserBytes int64
	// Cores if the system responds at once; 0 if that is unknown.
	Cores float64
}

// SteppedBatch is a batch with one unit of work per level.
type SteppedBatch interface {
	Stepped
	// ObserveLevel returns what the level at an index did.
	ObserveLevel(measured *payload.Payload, levels steps.Steps, index int) BatchLevel
	// LevelMetrics are the metrics that objectives may limit.
	LevelMetrics() []string
	// Whole returns the load with the work of all levels together.
	Whole(levels steps.Steps) v1alpha1.Load
}

// BatchLevel is the work of one level.
type BatchLevel struct {
	// From and To are zero if the work did not end.
	From, To time.Time
	// Observations are empty if the work failed.
	Observations []v1alpha1.Observation
}

// Sized is a kind of load with a size.
type Sized interface {
	Kind
	// Size returns the number, its noun, such as users or records, and a description that
	// loads of all sizes share.
	Size() (number int64, of, like string)
}

// Batch is a kind of load that is one unit of work, with its own end. It counts as a whole: it has
// no warm-up, tail or transactions. Loads next to it are divided into windows: before, during and
// after it.
type Batch interface {
	Kind
	// Observe returns the observations of the load.
	Observe(measured *payload.Payload) []v1alpha1.Observation
	// Terms returns the terms for batches of the kind.
	Terms() BatchTerms
}

// BatchTerms are the terms for a kind of batches in sentences and tables.
type BatchTerms struct {
	// Verb of such a load in a sentence: imports.
	Verb string
	// Noun is a column heading, Title a section heading.
	Noun, Title string
	// Durations and Rates are captions of tables: the batches' durations and their rates of
	// RateMetric.
	Durations, Rates string
	// RateMetric is the statistic of the second table, in 1/s.
	RateMetric string
}

// Fault is why results are invalid.
type Fault struct {
	Reason  string
	Message string
}

// Faultf writes a fault.
func Faultf(reason, format string, args ...any) *Fault {
	return &Fault{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Assumptions are the inputs that are unknown before the first run.
type Assumptions struct {
	// RecordsPerSecond of an import.
	RecordsPerSecond float64
	// ConfigMaps with available scripts.
	ConfigMaps ConfigMaps
}

// ConfigMaps are the data of ConfigMaps by name.
type ConfigMaps = map[string]map[string]string

// Length is the duration of a load, and its basis.
type Length struct {
	Lasts time.Duration
	// By names the source of the duration, if it is not the experiment: the options in a
	// file.
	By string
	// Assumes is a sentence about the assumption for all loads of the kind.
	Assumes string
}

// Source is a k6 script; one of the fields is set.
type Source struct {
	// File in the image.
	File      string
	ConfigMap *v1alpha1.ConfigMapKey
	Volume    *v1alpha1.ScriptVolume
}

// String names the script for users.
func (s Source) String() string {
	switch {
	case s.ConfigMap != nil:
		return s.ConfigMap.Key + " of ConfigMap " + s.ConfigMap.Name
	case s.Volume != nil:
		return s.Volume.File + " of volume " + s.Volume.ClaimName
	default:
		return s.File
	}
}

// Script returns the script's fields in a TestRun.
func (s Source) Script() map[string]any {
	switch {
	case s.ConfigMap != nil:
		return map[string]any{"configMap": map[string]any{"name": s.ConfigMap.Name, "file": s.ConfigMap.Key}}
	case s.Volume != nil:
		return map[string]any{"volumeClaim": map[string]any{"name": s.Volume.ClaimName, "file": s.Volume.File, "readOnly": true}}
	default:
		return map[string]any{"localFile": s.File}
	}
}
