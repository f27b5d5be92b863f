// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PerfSchedule creates PerfExperiments from its template at the times of a cron
// schedule, when the images of workloads change, or both. Keep the schedule in Git; the
// experiments belong to it.
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

	// spec is when to create which experiment.
	// +required
	Spec PerfScheduleSpec `json:"spec"`

	// status is what the schedule created.
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

// ConcurrencyPolicy is what happens to a due experiment while an earlier one of the
// schedule is running.
// +kubebuilder:validation:Enum=Allow;Forbid;Replace
type ConcurrencyPolicy string

const (
	// ForbidConcurrent creates none until the earlier one has ended.
	ForbidConcurrent ConcurrencyPolicy = "Forbid"
	// AllowConcurrent creates it; it queues to measure.
	AllowConcurrent ConcurrencyPolicy = "Allow"
	// ReplaceConcurrent deletes the earlier one and its results.
	ReplaceConcurrent ConcurrencyPolicy = "Replace"
)

// PerfScheduleSpec is when to create which experiment.
//
// +kubebuilder:validation:XValidation:rule="has(self.schedule) || has(self.onImageChange)",message="a schedule needs schedule (times in cron format), onImageChange (workloads to watch), or both"
// +kubebuilder:validation:XValidation:rule="!has(self.timeZone) || has(self.schedule)",message="timeZone requires schedule: add schedule, or remove timeZone"
// +kubebuilder:validation:XValidation:rule="!has(self.startingDeadlineSeconds) || has(self.schedule)",message="startingDeadlineSeconds requires schedule: add schedule, or remove startingDeadlineSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.release) || !self.release.contains('{tags}') || has(self.onImageChange)",message="{tags} in release requires onImageChange: name workloads there, or use {date} or {time}"
type PerfScheduleSpec struct {
	// schedule is when to create an experiment, in cron format as in a CronJob:
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

	// onImageChange are workloads to watch, in the same namespace: once all of them
	// have rolled out and one runs a different image, an experiment is created. The
	// first observation creates none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.kind == b.kind && a.name == b.name && (has(a.container) ? a.container : '') == (has(b.container) ? b.container : '')))",message="onImageChange has a workload and container twice: remove one of them"
	OnImageChange []ImageSource `json:"onImageChange,omitempty"`

	// concurrencyPolicy is what happens to a due experiment while an earlier one of the
	// schedule is running. Forbid: it waits for the end of the earlier one, and only the
	// last one that waits is created. Allow: it is created and queues to measure. Replace:
	// the earlier one is deleted with its results. Default Forbid.
	// +optional
	// +kubebuilder:default=Forbid
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`

	// startingDeadlineSeconds is how late an experiment of schedule may be created, if
	// the operator was down or an earlier experiment was running. Absent: no deadline;
	// of several missed times only the last counts.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 10 && self <= 31536000",message="startingDeadlineSeconds must be from 10 to 31536000 (a year): a shorter one can expire while the operator restarts"
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`

	// suspend creates no further experiment. Running ones are not affected. Default
	// false.
	// +optional
	// +kubebuilder:default=false
	Suspend bool `json:"suspend,omitempty"`

	// successfulExperimentsHistoryLimit is how many complete experiments of the
	// schedule to keep; older ones are deleted with their results, but not before
	// the operator's archive, if any, has them. Absent: all.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	SuccessfulExperimentsHistoryLimit *int32 `json:"successfulExperimentsHistoryLimit,omitempty"`

	// failedExperimentsHistoryLimit is how many Stalled experiments of the schedule
	// to keep; older ones are deleted with their results. Absent: all.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	FailedExperimentsHistoryLimit *int32 `json:"failedExperimentsHistoryLimit,omitempty"`

	// release is the value of a created experiment's annotation perflab.dev/release,
	// which names its points in perflab history. {tags} stands for the tags of the
	// images that changed or, at a time of schedule, of all images in onImageChange; for
	// an image without a tag, the beginning of its digest. {date} and {time} stand for
	// the scheduled time in timeZone: 2026-03-01 and 2026-03-01T02:00. Default: {tags}
	// after a change of images, otherwise {time}.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^([^{}]|[{](tags|date|time)[}])*$')",message="release may have {tags}, {date} and {time} in it, and no other braces: for example nightly {date}"
	Release string `json:"release,omitempty"`

	// template of the experiments.
	// +required
	Template PerfExperimentTemplate `json:"template"`
}

// ImageSource is a workload whose images are watched.
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

	// container to watch. Absent: all except init containers.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Container string `json:"container,omitempty"`
}

// PerfExperimentTemplate is the template of an experiment.
type PerfExperimentTemplate struct {
	// metadata of the experiment. Its name is generated, and it gets the label
	// perflab.dev/schedule.
	// +optional
	Metadata TemplateMetadata `json:"metadata,omitempty"`

	// spec of the experiment, as that of a PerfExperiment: see kubectl explain
	// perfexperiment.spec.
	// +required
	Spec PerfExperimentSpec `json:"spec"`
}

// TemplateMetadata is the metadata of created experiments.
type TemplateMetadata struct {
	// labels of the experiment. Those of perflab.dev are reserved.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, k.startsWith('perflab.dev/'))",message="labels of perflab.dev are reserved: remove them from the template"
	Labels map[string]string `json:"labels,omitempty"`

	// annotations of the experiment. Those of perflab.dev are reserved; set
	// spec.release for perflab.dev/release.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, k.startsWith('perflab.dev/'))",message="annotations of perflab.dev are reserved: remove them from the template, and set spec.release for perflab.dev/release"
	Annotations map[string]string `json:"annotations,omitempty"`
}

// PerfScheduleStatus is what the schedule created.
type PerfScheduleStatus struct {
	// observedGeneration is the generation of the spec that this status
	// describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// active are the experiments of the schedule that have not ended, at most 64.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	Active []string `json:"active,omitempty"`

	// activeCount is the number of experiments that have not ended.
	// +optional
	ActiveCount int32 `json:"activeCount"`

	// lastTime is when the last experiment was created, by any trigger.
	// +optional
	LastTime *metav1.Time `json:"lastTime,omitempty"`

	// lastScheduleTime is the last time of schedule with an experiment.
	// +optional
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`

	// lastSuccessfulTime is when an experiment of the schedule was last complete.
	// +optional
	LastSuccessfulTime *metav1.Time `json:"lastSuccessfulTime,omitempty"`

	// nextScheduleTime is the next time of schedule.
	// +optional
	NextScheduleTime *metav1.Time `json:"nextScheduleTime,omitempty"`

	// images of onImageChange that the last experiment they triggered measures, or
	// those of the first observation.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Images []SeenImage `json:"images,omitempty"`

	// imageChanges is how often images have changed.
	// +optional
	ImageChanges int64 `json:"imageChanges,omitempty"`

	// making is the experiment to create. It is recorded first, so that none is
	// created twice.
	// +optional
	Making *DueExperiment `json:"making,omitempty"`

	// conditions follow kstatus: Ready is True while the schedule is active. Held is
	// present while the creation of a due experiment is delayed.
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

// Trigger is what triggered an experiment.
// +kubebuilder:validation:Enum=Schedule;ImageChange
type Trigger string

const (
	// TriggerSchedule is a time of schedule.
	TriggerSchedule Trigger = "Schedule"
	// TriggerImageChange is a new image of a workload in onImageChange.
	TriggerImageChange Trigger = "ImageChange"
)

// DueExperiment is an experiment to create.
type DueExperiment struct {
	// name of the experiment.
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name"`
	// trigger of the experiment.
	Trigger Trigger `json:"trigger"`
	// time of the trigger.
	Time metav1.Time `json:"time"`
	// release of the experiment.
	// +kubebuilder:validation:MaxLength=512
	Release string `json:"release"`
}
