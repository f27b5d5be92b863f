// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestRun is one k6 test, spread over runner Pods.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Stage",type="string",JSONPath=".status.stage",description="Stage"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type TestRun struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   TestRunSpec   `json:"spec,omitempty"`
	Status TestRunStatus `json:"status,omitempty"`
}

// TestRunList is a list of TestRun.
//
// +kubebuilder:object:root=true
type TestRunList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TestRun `json:"items"`
}

// TestRunSpec is the desired state. It is read only while the run starts.
type TestRunSpec struct {
	// script is the location of the k6 script: the first of volumeClaim, configMap and localFile.
	Script Script `json:"script"`

	// parallelism is the number of runner Pods.
	Parallelism int32 `json:"parallelism"`

	// separate keeps runners on different nodes; it replaces runner.affinity.
	Separate bool `json:"separate,omitempty"`

	// arguments are k6's arguments in one string, split at spaces.
	Arguments string `json:"arguments,omitempty"`

	// args are k6's arguments, one element each. If there are any, arguments is ignored.
	// +listType=atomic
	Args []string `json:"args,omitempty"`

	// ports are added to the k6 containers, in addition to 6565.
	Ports []corev1.ContainerPort `json:"ports,omitempty"`

	// initializer is the Pod that inspects the script. If it is absent, the settings of the
	// runner apply.
	Initializer *Pod `json:"initializer,omitempty"`

	// starter is the Pod that releases the paused runners.
	Starter Pod `json:"starter,omitempty"`

	// runner is a Pod that runs k6.
	Runner Pod `json:"runner,omitempty"`

	// quiet "false" omits --quiet.
	// +kubebuilder:default="true"
	Quiet string `json:"quiet,omitempty"`

	// paused "false" omits --paused.
	// +kubebuilder:default="true"
	Paused string `json:"paused,omitempty"`

	// cleanup "post" deletes the TestRun when it has ended.
	Cleanup Cleanup `json:"cleanup,omitempty"`
}

// Cleanup defines what happens to a TestRun that has ended.
//
// +kubebuilder:validation:Enum=post
type Cleanup string

// CleanupPost deletes the TestRun, and with it everything it owns.
const CleanupPost Cleanup = "post"

// Script is the location of a k6 script.
type Script struct {
	VolumeClaim VolumeClaimScript `json:"volumeClaim,omitempty"`
	ConfigMap   ConfigMapScript   `json:"configMap,omitempty"`
	// localFile is a path in the image of the runner.
	LocalFile string `json:"localFile,omitempty"`
}

// VolumeClaimScript is a file on a PersistentVolumeClaim.
type VolumeClaimScript struct {
	Name     string `json:"name"`
	File     string `json:"file,omitempty"`
	ReadOnly bool   `json:"readOnly,omitempty"`
}

// ConfigMapScript is a key of a ConfigMap.
type ConfigMapScript struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
}

// Pod has the settings that a user can make for one of the three Pods.
type Pod struct {
	// disabled omits the Pod. Only the initializer supports it.
	// +optional
	// +kubebuilder:default=false
	Disabled                     bool                              `json:"disabled,omitempty"`
	Affinity                     *corev1.Affinity                  `json:"affinity,omitempty"`
	AutomountServiceAccountToken string                            `json:"automountServiceAccountToken,omitempty"`
	Env                          []corev1.EnvVar                   `json:"env,omitempty"`
	EnvFrom                      []corev1.EnvFromSource            `json:"envFrom,omitempty"`
	Image                        string                            `json:"image,omitempty"`
	ImagePullSecrets             []corev1.LocalObjectReference     `json:"imagePullSecrets,omitempty"`
	ImagePullPolicy              corev1.PullPolicy                 `json:"imagePullPolicy,omitempty"`
	Metadata                     PodMetadata                       `json:"metadata,omitempty"`
	NodeSelector                 map[string]string                 `json:"nodeSelector,omitempty"`
	Tolerations                  []corev1.Toleration               `json:"tolerations,omitempty"`
	TopologySpreadConstraints    []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	Resources                    corev1.ResourceRequirements       `json:"resources,omitempty"`
	ServiceAccountName           string                            `json:"serviceAccountName,omitempty"`
	SecurityContext              corev1.PodSecurityContext         `json:"securityContext,omitempty"`
	ContainerSecurityContext     corev1.SecurityContext            `json:"containerSecurityContext,omitempty"`
	ReadinessProbe               *corev1.Probe                     `json:"readinessProbe,omitempty"`
	LivenessProbe                *corev1.Probe                     `json:"livenessProbe,omitempty"`
	InitContainers               []InitContainer                   `json:"initContainers,omitempty"`
	Volumes                      []corev1.Volume                   `json:"volumes,omitempty"`
	VolumeMounts                 []corev1.VolumeMount              `json:"volumeMounts,omitempty"`
	PriorityClassName            string                            `json:"priorityClassName,omitempty"`
	SchedulerName                string                            `json:"schedulerName,omitempty"`
}

// PodMetadata are labels and annotations to add.
type PodMetadata struct {
	Annotations map[string]string `json:"annotations,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
}

// InitContainer runs before k6, or alongside it with restartPolicy Always.
type InitContainer struct {
	Name          string                         `json:"name,omitempty"`
	Image         string                         `json:"image,omitempty"`
	Env           []corev1.EnvVar                `json:"env,omitempty"`
	EnvFrom       []corev1.EnvFromSource         `json:"envFrom,omitempty"`
	Command       []string                       `json:"command,omitempty"`
	Args          []string                       `json:"args,omitempty"`
	WorkingDir    string                         `json:"workingDir,omitempty"`
	VolumeMounts  []corev1.VolumeMount           `json:"volumeMounts,omitempty"`
	Resources     corev1.ResourceRequirements    `json:"resources,omitempty"`
	RestartPolicy *corev1.ContainerRestartPolicy `json:"restartPolicy,omitempty"`
}

// Stage is the progress of a TestRun, which never returns to an earlier stage.
//
// +kubebuilder:validation:Enum=initialization;initialized;created;started;stopped;finished;error
type Stage string

// Stages in the order of a run. A run ends in finished, regardless of the exit codes of its
// runners, or in error if its preparation failed.
const (
	StageInitialization Stage = "initialization"
	StageInitialized    Stage = "initialized"
	StageCreated        Stage = "created"
	StageStarted        Stage = "started"
	StageStopped        Stage = "stopped"
	StageFinished       Stage = "finished"
	StageError          Stage = "error"
)

// TestRunStatus is the state that k6-operator reports. There is no observedGeneration.
type TestRunStatus struct {
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// +optional
	Stage Stage `json:"stage,omitempty"`
}
