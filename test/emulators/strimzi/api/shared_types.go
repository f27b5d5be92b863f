// SPDX-License-Identifier: Apache-2.0

package api

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Labels and annotations of Strimzi that the emulator sets or reads.
const (
	LabelCluster        = "strimzi.io/cluster"
	LabelKind           = "strimzi.io/kind"
	LabelName           = "strimzi.io/name"
	LabelComponentType  = "strimzi.io/component-type"
	LabelPoolName       = "strimzi.io/pool-name"
	LabelPodName        = "strimzi.io/pod-name"
	LabelBrokerRole     = "strimzi.io/broker-role"
	LabelControllerRole = "strimzi.io/controller-role"
	LabelController     = "strimzi.io/controller"
	LabelControllerName = "strimzi.io/controller-name"

	// AnnotationKRaft and AnnotationNodePools turn KRaft and node pools on in
	// Strimzi 0.45 with the value "enabled"; Strimzi 1.x ignores them.
	AnnotationKRaft     = "strimzi.io/kraft"
	AnnotationNodePools = "strimzi.io/node-pools"

	AnnotationPause = "strimzi.io/pause-reconciliation"
)

// Condition types of Strimzi.
const (
	ConditionReady                = "Ready"
	ConditionNotReady             = "NotReady"
	ConditionWarning              = "Warning"
	ConditionReconciliationPaused = "ReconciliationPaused"
)

// Condition is Strimzi's own condition. It has no observedGeneration, its time is a plain
// string, and reason and message are optional.
type Condition struct {
	Type               string                 `json:"type,omitempty"`
	Status             metav1.ConditionStatus `json:"status,omitempty"`
	LastTransitionTime string                 `json:"lastTransitionTime,omitempty"`
	Reason             string                 `json:"reason,omitempty"`
	Message            string                 `json:"message,omitempty"`
}

// Config is Kafka configuration as written in YAML: strings, numbers, booleans, or lists
// of them.
type Config map[string]apiextensionsv1.JSON

// JvmOptions are the settings of a JVM.
type JvmOptions struct {
	XX                   map[string]string `json:"-XX,omitempty"`
	Xms                  string            `json:"-Xms,omitempty"`
	Xmx                  string            `json:"-Xmx,omitempty"`
	GcLoggingEnabled     bool              `json:"gcLoggingEnabled,omitempty"`
	JavaSystemProperties []SystemProperty  `json:"javaSystemProperties,omitempty"`
}

// SystemProperty is one -Dname=value.
type SystemProperty struct {
	Name  string `json:"name,omitempty"`
	Value string `json:"value,omitempty"`
}

// ObjectMetadata are additional labels and annotations of a child object.
type ObjectMetadata struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// ContainerTemplate has the settings that a user can add to a container.
type ContainerTemplate struct {
	Env             []corev1.EnvVar         `json:"env,omitempty"`
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`
}

// PodTemplate has the settings that a user can add to a Pod.
type PodTemplate struct {
	Metadata                      ObjectMetadata                    `json:"metadata,omitempty"`
	Affinity                      *corev1.Affinity                  `json:"affinity,omitempty"`
	Tolerations                   []corev1.Toleration               `json:"tolerations,omitempty"`
	TopologySpreadConstraints     []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	ImagePullSecrets              []corev1.LocalObjectReference     `json:"imagePullSecrets,omitempty"`
	SecurityContext               *corev1.PodSecurityContext        `json:"securityContext,omitempty"`
	PriorityClassName             string                            `json:"priorityClassName,omitempty"`
	SchedulerName                 string                            `json:"schedulerName,omitempty"`
	EnableServiceLinks            *bool                             `json:"enableServiceLinks,omitempty"`
	TerminationGracePeriodSeconds *int64                            `json:"terminationGracePeriodSeconds,omitempty"`
}

// NodeTemplate holds the templates of a Kafka node.
type NodeTemplate struct {
	Pod            PodTemplate       `json:"pod,omitempty"`
	KafkaContainer ContainerTemplate `json:"kafkaContainer,omitempty"`
}
