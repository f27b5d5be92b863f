// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PerfSchedule makes a new PerfExperiment of its template at the times of a cron
// schedule, when the images of workloads change, or both. What it makes is its own: the
// object in Git is the schedule.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=psched,categories=perflab
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.spec.schedule`
// +kubebuilder:printcolumn:name="Suspend",type=boolean,JSONPath=`.spec.suspend`
// +kubebuilder:printcolumn:name="Active",type=integer,JSONPath=`.status.activeCount`
// +kubebuilder:printcolumn:name="Last",type=date,JSONPath=`.status.lastTime`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Next",type=string,JSONPath=`.status.nextScheduleTime`,priority=1
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 23 && self.metadata.name.matches('^[a-z]([a-z0-9-]*[a-z0-9])?$')",message="the schedule's name must be at most 23 lower-case letters, digits and '-' and start with a letter: the names of its experiments, which may have 32, begin with it"
type PerfSchedule struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is when to make which experiment.
	// +required
	Spec PerfScheduleSpec `json:"spec"`

	// status is what was made so far.
	// +optional
	Status PerfScheduleStatus `json:"status,omitempty"`
}

// PerfScheduleList is a list of PerfSchedules.
//
// +kubebuilder:object:root=true
type PerfScheduleList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PerfSchedule `json:"items"`
}

// ConcurrencyPolicy says what becomes of an experiment that is due while an earlier one
// of the schedule is on.
// +kubebuilder:validation:Enum=Allow;Forbid;Replace
type ConcurrencyPolicy string

const (
	// ForbidConcurrent makes none until the earlier one has ended.
	ForbidConcurrent ConcurrencyPolicy = "Forbid"
	// AllowConcurrent makes it all the same; it waits for its turn to measure.
	AllowConcurrent ConcurrencyPolicy = "Allow"
	// ReplaceConcurrent deletes the earlier one, and what it measured.
	ReplaceConcurrent ConcurrencyPolicy = "Replace"
)

// PerfScheduleSpec is when to make which experiment.
//
// +kubebuilder:validation:XValidation:rule="has(self.schedule) || has(self.onImageChange)",message="a schedule needs schedule (times in cron's format), onImageChange (workloads to look at), or both"
// +kubebuilder:validation:XValidation:rule="!has(self.timeZone) || has(self.schedule)",message="timeZone is that of schedule: add schedule, or take timeZone out"
// +kubebuilder:validation:XValidation:rule="!has(self.startingDeadlineSeconds) || has(self.schedule)",message="startingDeadlineSeconds is for the times of schedule: add schedule, or take startingDeadlineSeconds out"
// +kubebuilder:validation:XValidation:rule="!has(self.release) || !self.release.contains('{tags}') || has(self.onImageChange)",message="{tags} in release are those of the images in onImageChange: name workloads there, or write {date} or {time}"
type PerfScheduleSpec struct {
	// schedule is when to make an experiment, in cron's format, as a CronJob has it:
	// minute, hour, day of the month, month, day of the week, or @hourly, @daily,
	// @weekly, @monthly, @yearly. Example: "0 2 * * 1-5".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Schedule string `json:"schedule,omitempty"`

	// timeZone of schedule, by its name in the time zone database. Example:
	// Europe/Berlin. Default UTC.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	TimeZone string `json:"timeZone,omitempty"`

	// onImageChange are workloads, in the same namespace, that are looked at: once all
	// of them have rolled out and one runs another image than before, an experiment is
	// made. The first look makes none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.kind == b.kind && a.name == b.name && (has(a.container) ? a.container : '') == (has(b.container) ? b.container : '')))",message="a workload and container stands twice in onImageChange: take one of them out"
	OnImageChange []ImageSource `json:"onImageChange,omitempty"`

	// concurrencyPolicy says what becomes of an experiment that is due while an earlier
	// one of the schedule is on. Forbid: it waits for the end of that one, and only the
	// last of those that wait is made. Allow: it is made and waits for its turn to
	// measure. Replace: the earlier one is deleted, with what it measured. Default Forbid.
	// +optional
	// +kubebuilder:default=Forbid
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`

	// startingDeadlineSeconds is how late an experiment of schedule may be made, for
	// the operator was away, or an earlier one was on. Absent: as late as need be, the
	// last one of those that were missed.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 10 && self <= 31536000",message="startingDeadlineSeconds must be from 10 to 31536000 (a year): an operator that is restarted in between would be too late for less"
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`

	// suspend makes no further experiment. Those that are on are left alone. Default
	// false.
	// +optional
	// +kubebuilder:default=false
	Suspend bool `json:"suspend,omitempty"`

	// successfulExperimentsHistoryLimit is how many complete experiments of the
	// schedule stay; older ones are deleted with what they measured, but where the
	// operator has an archive, never before they are in it. Absent: all stay.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	SuccessfulExperimentsHistoryLimit *int32 `json:"successfulExperimentsHistoryLimit,omitempty"`

	// failedExperimentsHistoryLimit is how many experiments of the schedule stay that
	// are Stalled; older ones are deleted with what they measured. Absent: all stay.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	FailedExperimentsHistoryLimit *int32 `json:"failedExperimentsHistoryLimit,omitempty"`

	// release is the value of a created experiment's annotation perflab.dev/release, by
	// which perflab history names its points. {tags} stands for the tags of the images
	// that have changed or, at a time of schedule, of all images in onImageChange; of an
	// image without a tag, for the beginning of its digest. {date} and {time} stand for
	// the scheduled time in timeZone: 2026-03-01 and 2026-03-01T02:00. Default {tags}
	// after a change of images, else {time}.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^([^{}]|[{](tags|date|time)[}])*$')",message="release may have {tags}, {date} and {time} in it, and no other braces: for example nightly {date}"
	Release string `json:"release,omitempty"`

	// template is the experiment that is made.
	// +required
	Template PerfExperimentTemplate `json:"template"`
}

// ImageSource is a workload whose images are looked at.
type ImageSource struct {
	// kind of the workload. Default Deployment.
	// +optional
	// +kubebuilder:default=Deployment
	// +kubebuilder:validation:Enum=Deployment;StatefulSet
	Kind string `json:"kind,omitempty"`

	// name of the workload.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// container whose image counts. Absent: every container's; init containers don't
	// count.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Container string `json:"container,omitempty"`
}

// PerfExperimentTemplate is an experiment to make.
type PerfExperimentTemplate struct {
	// metadata of the experiment. It gets a name by itself, and the label
	// perflab.dev/schedule.
	// +optional
	Metadata TemplateMetadata `json:"metadata,omitempty"`

	// spec of the experiment, as that of a PerfExperiment: see kubectl explain
	// perfexperiment.spec.
	// +required
	Spec PerfExperimentSpec `json:"spec"`
}

// TemplateMetadata is what experiments of a template are marked with.
type TemplateMetadata struct {
	// labels of the experiment. Those of perflab.dev are the operator's.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, k.startsWith('perflab.dev/'))",message="labels of perflab.dev are the operator's: take them out of the template"
	Labels map[string]string `json:"labels,omitempty"`

	// annotations of the experiment. Those of perflab.dev are the operator's;
	// spec.release says what perflab.dev/release is.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, k.startsWith('perflab.dev/'))",message="annotations of perflab.dev are the operator's: take them out of the template, and write spec.release for perflab.dev/release"
	Annotations map[string]string `json:"annotations,omitempty"`
}

// PerfScheduleStatus is what was made so far.
type PerfScheduleStatus struct {
	// observedGeneration is the generation of the spec that the status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// active are the experiments of the schedule that have not ended, the first 64.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	Active []string `json:"active,omitempty"`

	// activeCount is how many have not ended.
	// +optional
	ActiveCount int32 `json:"activeCount"`

	// lastTime is when the last experiment was made, by whichever trigger.
	// +optional
	LastTime *metav1.Time `json:"lastTime,omitempty"`

	// lastScheduleTime is the last time of schedule that an experiment was made for.
	// +optional
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`

	// lastSuccessfulTime is when an experiment of the schedule was last complete.
	// +optional
	LastSuccessfulTime *metav1.Time `json:"lastSuccessfulTime,omitempty"`

	// nextScheduleTime is the next time of schedule.
	// +optional
	NextScheduleTime *metav1.Time `json:"nextScheduleTime,omitempty"`

	// images are those of onImageChange that the last experiment they brought about
	// measures, or that were there at the first look.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Images []SeenImage `json:"images,omitempty"`

	// imageChanges is how often images have changed.
	// +optional
	ImageChanges int64 `json:"imageChanges,omitempty"`

	// making is the experiment that is being made. It stands here before it exists, so
	// that none is made twice.
	// +optional
	Making *DueExperiment `json:"making,omitempty"`

	// conditions follow kstatus: Ready is True while the schedule is in force. Held is
	// there while an experiment is due that is not made yet.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// SeenImage is the image of a container that has rolled out.
type SeenImage struct {
	// kind of the workload.
	// +kubebuilder:validation:MaxLength=512
	Kind string `json:"kind"`
	// name of the workload.
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name"`
	// container of the workload.
	// +kubebuilder:validation:MaxLength=512
	Container string `json:"container"`
	// image as the workload names it.
	// +kubebuilder:validation:MaxLength=1024
	Image string `json:"image"`
}

// Trigger is what brought an experiment about.
// +kubebuilder:validation:Enum=Schedule;ImageChange
type Trigger string

const (
	// TriggerSchedule is a time of schedule.
	TriggerSchedule Trigger = "Schedule"
	// TriggerImageChange is another image of a workload in onImageChange.
	TriggerImageChange Trigger = "ImageChange"
)

// DueExperiment is an experiment that is to be made.
type DueExperiment struct {
	// name of the experiment.
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name"`
	// trigger that brought it about.
	Trigger Trigger `json:"trigger"`
	// time it is made for.
	Time metav1.Time `json:"time"`
	// release it is called.
	// +kubebuilder:validation:MaxLength=512
	Release string `json:"release"`
}
