// SPDX-License-Identifier: Apache-2.0

// Package kind says what has to be known of a kind of load. Each kind is a
// package beside this one that answers it; package kinds lists them, and finds
// that of a load. They are pure.
package kind

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/payload"
)

// Kind is a load as its kind knows it. Defaults has the usual answers.
type Kind interface {
	Runner
	Judge

	// Describe says in a few words what the load does.
	Describe() string
	// Progress says in words what the load's runners reported last.
	Progress(last *v1alpha1.LoadProgress) string
	// Length is how long a load without a duration lasts. The error says why
	// that is not known.
	Length(assumed Assumptions) (Length, error)

	// Transactions that the load has, by name; none: nobody knows before.
	Transactions() []string
	// Statistics that end the names of the load's metrics.
	Statistics() []string
	// Primary are the load's metrics that decide where nobody names any.
	Primary() []string
}

// Runner is what a load's k6 needs.
type Runner interface {
	// Source is where the k6 script is.
	Source() Source
	// Image with k6; empty: the operator's own.
	Image() string
	// Arguments for k6 run, beside those of every load.
	Arguments() []string
	// Environment of the script, beside that of every load. The load is to end
	// after the longest time at the latest.
	Environment(longest time.Duration) []corev1.EnvVar
	// Volumes with the load's own data, and where they are mounted.
	Volumes() ([]corev1.Volume, []corev1.VolumeMount)
	// WritesFiles says that the script may write files where it likes.
	WritesFiles() bool
	// Results says how what was measured comes out of k6.
	Results() v1alpha1.ScriptResults
}

// Judge says what is wrong with a load, before and after it has run.
type Judge interface {
	// IsFOLIO says that the load only makes sense against a FOLIO, in which it
	// logs in.
	IsFOLIO() bool
	// Validate finds what the API server can't: faults, and warnings. The path is
	// the load's; the ConfigMaps are those at hand.
	Validate(path *field.Path, configMaps ConfigMaps) (field.ErrorList, []string)
	// JudgesRequests says that too many failed requests or checks make a run
	// invalid: its transactions do not tell whether what is inside of them worked.
	JudgesRequests() bool
	// Check says by rules of the kind's own why what was measured, as far as it
	// counts, does not count after all; nil: it does.
	Check(measured *payload.Payload, validity v1alpha1.Validity) *Fault
}

// ScriptKind is the kind of a load whose transactions stand in a script.
type ScriptKind interface {
	Kind
	// DeclaredTransactions are the transactions that stand there, sorted, as far as the ConfigMaps at
	// hand tell; false: there may be others.
	DeclaredTransactions(configMaps ConfigMaps) (transactions []string, complete bool)
	// NoTransactions warns of a script that has none. The path is the load's.
	NoTransactions(path *field.Path) string
}

// Sized is the kind of a load that differs in a number from others of its like.
type Sized interface {
	Kind
	// Size is the number, and what there are so many of: users, records. Like says in
	// a few words what loads of all sizes have in common.
	Size() (number int64, of, like string)
}

// Batch is the kind of a load that is one piece of work, with an end of its own.
// It counts from its start to its end, and as a whole: there is no warm-up, no
// tail, and no transaction. Loads beside it are cut into windows: before it,
// while it is on, after it.
type Batch interface {
	Kind
	// Observe gives the observations of the load.
	Observe(measured *payload.Payload) []v1alpha1.Observation
	// Terms are those of all batches of the kind.
	Terms() BatchTerms
}

// BatchTerms are what sentences and tables call a kind of batches.
type BatchTerms struct {
	// Verb says in a sentence what such a load does: imports.
	Verb string
	// Noun heads a column of them, Title a section.
	Noun, Title string
	// Durations and Rates are captions of tables: how long the batches took, and
	// how much of RateMetric they got done.
	Durations, Rates string
	// RateMetric is the statistic of the second table, in 1/s.
	RateMetric string
}

// Fault says why what was measured does not count.
type Fault struct {
	Reason  string
	Message string
}

// Faultf writes a fault.
func Faultf(reason, format string, args ...any) *Fault {
	return &Fault{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Assumptions are what nobody knows of loads before the first run.
type Assumptions struct {
	// RecordsPerSecond an import processes.
	RecordsPerSecond float64
	// ConfigMaps that are at hand: scripts.
	ConfigMaps ConfigMaps
}

// ConfigMaps are the data of some by name.
type ConfigMaps = map[string]map[string]string

// Length is how long a load lasts, and what that rests on.
type Length struct {
	Lasts time.Duration
	// By names what says so, where the experiment does not: the options in a file.
	By string
	// Assumes is a sentence on what is assumed of all loads of the kind.
	Assumes string
}

// Source is where a k6 script is; one of them is set.
type Source struct {
	// File in the image.
	File      string
	ConfigMap *v1alpha1.ConfigMapKey
	Volume    *v1alpha1.ScriptVolume
}

// String names the script for a reader.
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

// Script is what a TestRun says of it.
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
