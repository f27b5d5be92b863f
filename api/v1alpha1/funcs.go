// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IsFinal reports whether a run in this phase never changes again.
func (p RunPhase) IsFinal() bool { return p == RunSucceeded || p == RunInvalid }

// EnvironmentOrDefault is the deadline for building the environment.
func (d Deadlines) EnvironmentOrDefault() time.Duration {
	return durationOr(d.Environment, 15*time.Minute)
}

// LoadStartOrDefault is the deadline from creating a load to its first request.
func (d Deadlines) LoadStartOrDefault() time.Duration { return durationOr(d.LoadStart, 5*time.Minute) }

// LoadOrDefault is the deadline of a load without a duration of its own.
func (d Deadlines) LoadOrDefault() time.Duration { return durationOr(d.Load, 2*time.Hour) }

// WarmUpOrDefault is the time cut off the start of a load.
func (m Measurement) WarmUpOrDefault() time.Duration { return durationOr(m.WarmUp, 0) }

// TTLOrDefault is how long the environment is kept after the experiment.
func (c Cleanup) TTLOrDefault() time.Duration { return durationOr(c.TTL, 0) }

// MaxRestartsOrDefault is how often modules' containers may restart under load.
func (v Validity) MaxRestartsOrDefault() int32 { return valueOr(v.MaxRestarts, 0) }

// MaxFailedImportsOrDefault is how many imports of a load may fail.
func (v Validity) MaxFailedImportsOrDefault() int32 { return valueOr(v.MaxFailedImports, 0) }

// LeavesOutUnsound reports whether the valid part of a run counts if another part is
// invalid.
func (v Validity) LeavesOutUnsound() bool { return v.Unsound == UnsoundIsLeftOut }

// MaxGapPercentOrDefault is the share of the time in which servers may not have been
// sampled.
func (v Validity) MaxGapPercentOrDefault() int32 { return valueOr(v.MaxGapPercent, 0) }

// MaxErrorPercentOrDefault is the share of transactions that may fail.
func (v Validity) MaxErrorPercentOrDefault() int32 { return valueOr(v.MaxErrorPercent, 1) }

// MaxFailedRequestsPercentOrDefault is the share of a script's requests that
// may fail.
func (v Validity) MaxFailedRequestsPercentOrDefault() int32 {
	return valueOr(v.MaxFailedRequestsPercent, v.MaxErrorPercentOrDefault())
}

// MaxFailedChecksPercentOrDefault is the share of a script's checks that may
// fail.
func (v Validity) MaxFailedChecksPercentOrDefault() int32 {
	return valueOr(v.MaxFailedChecksPercent, v.MaxErrorPercentOrDefault())
}

func valueOr(given *int32, otherwise int32) int32 {
	if given == nil {
		return otherwise
	}
	return *given
}

// MaxOtherCPUPercentOrDefault is the share of a full node's CPUs that other
// workloads may use.
func (v Validity) MaxOtherCPUPercentOrDefault() int32 {
	if v.MaxOtherCPUPercent == nil {
		return 50
	}
	return *v.MaxOtherCPUPercent
}

// CurrencyOrDefault is the currency of the prices.
func (c Cost) CurrencyOrDefault() string {
	if c.Currency == "" {
		return "USD"
	}
	return c.Currency
}

// ParallelismOrDefault is the number of k6 runners that share the load.
func (l Load) ParallelismOrDefault() int32 {
	if l.Parallelism == nil {
		return 1
	}
	return *l.Parallelism
}

// StartAfterOrDefault is the delay from the scenario's start.
func (l Load) StartAfterOrDefault() time.Duration { return durationOr(l.StartAfter, 0) }

func durationOr(d *metav1.Duration, otherwise time.Duration) time.Duration {
	if d == nil {
		return otherwise
	}
	return d.Duration
}

// HighestLevel is that of a capacity's levels: parallel imports if the load declares their number,
// or else records.
func (i *DataImport) HighestLevel() int32 { return cmp.Or(i.Parallel, i.Records) }

// JobProfileOrDefault is the name of the import's job profile.
func (i *DataImport) JobProfileOrDefault() string {
	switch {
	case i.JobProfile != "":
		return i.JobProfile
	case i.RecordType == RecordHoldings:
		return "Default - Create Holdings and SRS MARC Holdings"
	case i.RecordType == RecordAuthority:
		return "Default - Create SRS MARC Authority"
	case i.Operation == ImportUpdate:
		return "PTF - Updates Success - 1"
	default:
		return "PTF - Create 2"
	}
}

// TailOrDefault is the time cut off the end of loads.
func (m Measurement) TailOrDefault() time.Duration { return durationOr(m.Tail, 0) }

// GrowthAfterOrDefault is how long heaps and caches may fill before growth counts.
func (m Measurement) GrowthAfterOrDefault() time.Duration {
	const fallback = 30 * time.Minute
	if m.Growth == nil {
		return fallback
	}
	return durationOr(m.Growth.After, fallback)
}

// IsLong reports whether a load of this duration shows growth over time.
func (m Measurement) IsLong(load time.Duration) bool { return load > 4*m.GrowthAfterOrDefault() }

// GrowthPercentOrDefault is the smallest growth in an hour that is reported, in percent of
// the average.
func (m Measurement) GrowthPercentOrDefault() int32 {
	if m.Growth == nil {
		return 1
	}
	return valueOr(m.Growth.PercentPerHour, 1)
}

// IntervalOrDefault is the time between two samples of the servers.
func (m Measurement) IntervalOrDefault() time.Duration { return durationOr(m.Interval, 15*time.Second) }

// ResultsOrDefault is the form of the script's results.
func (s *Script) ResultsOrDefault() ScriptResults {
	switch {
	case s.Results != "":
		return s.Results
	case s.Image != "":
		return ResultsSummary
	default:
		return ResultsHistograms
	}
}

// DefaultTenant is the tenant of a FOLIO system that declares none.
const DefaultTenant = "diku"

// Digests are the digests of all files by name; the script's own name is its
// key.
func (s *ScriptStatus) Digests(key string) map[string]string {
	all := map[string]string{key: s.SHA256}
	for _, file := range s.Files {
		all[file.Name] = file.SHA256
	}
	return all
}

// LoginOrDefault is the way loads log in.
func (t Target) LoginOrDefault() Login {
	if t.Login == "" {
		return LoginOkapi
	}
	return t.Login
}

// MechanismOrDefault is how clients log in to the brokers.
func (s KafkaSASL) MechanismOrDefault() SASLMechanism {
	if s.Mechanism == "" {
		return SASLScramSHA512
	}
	return s.Mechanism
}

// JavaOptions is the default variable for JVM options: the one that FOLIO's
// images pass to the JVM.
const JavaOptions = "JAVA_OPTIONS"

// VariableOrDefault is the variable that receives the JVM's settings.
func (j *JVM) VariableOrDefault() string {
	if j == nil || j.Variable == "" {
		return JavaOptions
	}
	return j.Variable
}

const (
	// defaultBlocks is the fewest blocks that allow a verdict.
	defaultBlocks = 6
	// With defaultMostBlocks, two or three arms and two metrics each get the right
	// verdict with 80 % power, whether arms are equal or one is slower by 5 %, if
	// runs of one arm spread by 5 %: TestDefaultDesign of package preview. Beyond
	// defaultMostRuns an experiment takes days.
	defaultMostBlocks, defaultMostRuns = 36, 200
)

// DesignOrDefault is the design with default blocks. Without blocks and target it
// runs until every primary metric has a verdict in every arm.
func (s *PerfExperimentSpec) DesignOrDefault() Design {
	design := s.Design
	if design.Blocks > 0 {
		return design
	}
	design.Blocks = defaultBlocks
	if combinations := s.combinations(); design.Target == nil && combinations > len(s.Scenarios) {
		most := min(defaultMostBlocks, defaultMostRuns/combinations)
		if most > defaultBlocks {
			design.Target = &PrecisionTarget{Verdicts: true, MaxBlocks: int32(most)} //nolint:gosec // At most 36.
		}
	}
	return design
}

// combinations is the number of arms, those that a matrix excludes included,
// times scenarios.
func (s *PerfExperimentSpec) combinations() int {
	arms := len(s.Arms)
	if s.Matrix != nil {
		arms = 1
		for _, factor := range s.Matrix.Factors {
			arms *= len(factor.Levels)
		}
	}
	if s.Design.Calibrate {
		arms++
	}
	return arms * len(s.Scenarios)
}

// BudgetOrNone is the time in which blocks may be added; 0: no limit.
func (d Design) BudgetOrNone() time.Duration { return durationOr(d.Budget, 0) }

// MostBlocks is the largest number of blocks of the design.
func (d Design) MostBlocks() int32 {
	if d.Target == nil {
		return d.Blocks
	}
	return max(d.Blocks, d.Target.MaxBlocks)
}

// SectionOrDefault is the section of the report for the note.
func (n *Note) SectionOrDefault() NoteSection {
	if n.Section == "" {
		return NoteSummary
	}
	return n.Section
}

// NoteConfigMaps are the names of the ConfigMaps with notes, without duplicates.
func (s *PerfExperimentSpec) NoteConfigMaps() []string {
	var names []string
	for i := range s.Notes {
		if kept := s.Notes[i].ConfigMap; kept != nil && !slices.Contains(names, kept.Name) {
			names = append(names, kept.Name)
		}
	}
	return names
}

// At is the number of runs created for a position in the plan, which begins with
// 1.
func (a Attempts) At(position int32) int32 {
	if position < 1 || int(position) > len(a) {
		return 0
	}
	return a[position-1]
}

// LevelsOrDefault returns the number of levels of each run.
func (c Capacity) LevelsOrDefault() int32 { return valueOr(c.Levels, 6) }

// LoadOf returns the load whose level changes; false if there is none of the name.
func (c Capacity) LoadOf(loads []Load) (Load, bool) {
	for _, load := range loads {
		if load.Name == c.Load || c.Load == "" && len(loads) == 1 {
			return load, true
		}
	}
	return Load{}, false
}

// MaxOrDefault returns the highest level; 0 if it is unknown.
func (c Capacity) MaxOrDefault(load Load) int32 {
	users := load.CheckInCheckOut
	switch {
	case c.Max == nil && load.DataImport != nil:
		return load.DataImport.HighestLevel()
	case c.Max != nil || users == nil:
		return valueOr(c.Max, 0)
	case users.Arrivals != nil:
		return users.Arrivals.PerMinute
	default:
		return users.Users
	}
}

// Fault returns the status of a fault; nil if there is none yet.
func (s *PerfRunStatus) Fault(name string) *RunFault {
	at := slices.IndexFunc(s.Faults, func(one RunFault) bool { return one.Name == name })
	if at < 0 {
		return nil
	}
	return &s.Faults[at]
}

// Objective is that of a fault of the scenario, by name; 0: any response time.
func (s Scenario) Objective(fault string) time.Duration {
	for _, one := range s.Faults {
		if one.Name == fault {
			return durationOr(one.Objective, 0)
		}
	}
	return 0
}

// WithinOrDefault is the time in which the fault's moment is drawn.
func (f Fault) WithinOrDefault() time.Duration { return durationOr(f.Within, 0) }

// ObserveOrDefault is the time in which the fault's cost is measured.
func (f Fault) ObserveOrDefault() time.Duration { return durationOr(f.Observe, time.Minute) }

// DurationOrDefault is the time from the fault's begin to the deletion of its resource.
func (f Fault) DurationOrDefault() time.Duration {
	if f.Resource == nil {
		return f.ObserveOrDefault()
	}
	return durationOr(f.Resource.Duration, f.ObserveOrDefault())
}

// PodsOrDefault is the number of pods that are deleted.
func (k KillFault) PodsOrDefault() int32 { return valueOr(k.Pods, 1) }

// GracePeriodOrDefault is the time that containers have to end by themselves.
func (k KillFault) GracePeriodOrDefault() time.Duration { return durationOr(k.GracePeriod, 0) }

// Effect describes what the fault does in the present tense.
func (f Fault) Effect() string {
	switch {
	case f.Kill != nil:
		return f.Kill.String()
	case f.Restart != nil:
		return f.Restart.String()
	case f.Switchover != nil:
		return "promotes a PostgreSQL replica to primary"
	case f.Partitions != nil:
		return fmt.Sprintf("raises the partitions of topic group %q to %d", f.Partitions.Group, f.Partitions.Count)
	}
	return "creates a custom resource" + f.Resource.ofKind()
}

// ofKind is empty if the manifest has no kind.
func (r *ResourceFault) ofKind() string {
	var written metav1.TypeMeta
	if r == nil || json.Unmarshal(r.Manifest.Raw, &written) != nil || written.Kind == "" {
		return ""
	}
	return ", " + written.Kind
}

// String describes the fault in the present tense: restarts the pods of module gateway.
func (r RestartFault) String() string {
	subject, upgrade := "the pods of module "+r.Module, r.NewImage()
	switch {
	case r.Postgres != nil:
		subject = "the instances of PostgreSQL"
	case r.Kafka != nil:
		subject, upgrade = "the nodes of Kafka", r.Kafka.Version
	}
	text := "restarts " + subject
	if upgrade != "" {
		text = "upgrades " + subject + " to " + upgrade
	}
	if r.Memory != nil {
		text += " with a memory limit of " + r.Memory.String()
	}
	return text
}

// Replaces are the pods that the restart replaces, as those of faults that kill them.
func (r RestartFault) Replaces() []KillFault {
	switch {
	case r.Postgres != nil:
		return []KillFault{{Postgres: PostgresPrimary}, {Postgres: PostgresReplica}}
	case r.Kafka != nil:
		return []KillFault{{Kafka: KafkaBroker}}
	}
	return []KillFault{{Module: r.Module}}
}

// NewImage is the image that the restarted pods run; empty if they keep theirs.
func (r RestartFault) NewImage() string {
	if r.Postgres != nil {
		return r.Postgres.Image
	}
	return r.Image
}

// Kills are the faults that kill the pods of the system that PerfLab builds.
func (s *System) Kills() []KillFault {
	var all []KillFault
	if s.Kafka != nil && s.Kafka.External == nil {
		all = append(all, KillFault{Kafka: KafkaBroker})
	}
	if s.Postgres != nil && s.Postgres.External == nil {
		all = append(all, KillFault{Postgres: PostgresPrimary}, KillFault{Postgres: PostgresReplica})
	}
	for _, module := range s.Modules {
		if module.WorkloadRef == nil {
			all = append(all, KillFault{Module: module.Name})
		}
	}
	return all
}

// String describes the fault in the present tense: kills 1 pod of module gateway.
func (k KillFault) String() string {
	text := "kills " + k.victims()
	if k.WholeNode {
		text += ", with all pods of the system on the same node"
	}
	return text
}

func (k KillFault) victims() string {
	subject := "module " + k.Module
	switch {
	case k.Postgres == PostgresPrimary:
		return "PostgreSQL's primary"
	case k.Kafka == KafkaController:
		return "Kafka's active controller"
	case k.Postgres != "":
		subject = "PostgreSQL's replicas"
	case k.Kafka != "":
		subject = "Kafka's brokers"
	}
	pods := "1 pod"
	if count := k.PodsOrDefault(); count != 1 {
		pods = fmt.Sprintf("%d pods", count)
	}
	return pods + " of " + subject
}

// RetentionOrDefault is how long the results of runs stay, by either name of the field.
func (s *PerfExperimentSpec) RetentionOrDefault() Retention {
	for _, declared := range []*Retention{s.Retention, s.History} {
		if declared != nil {
			return *declared
		}
	}
	return Retention{}
}
