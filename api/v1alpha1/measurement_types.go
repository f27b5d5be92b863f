// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Measurement is which part of a run counts and what is measured beside the
// loads.
type Measurement struct {
	// warmUp is cut off the start of every load except imports. If response times
	// still fall after it, a run's status.warnings suggest a longer one. Default
	// 0s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	WarmUp *metav1.Duration `json:"warmUp,omitempty"`

	// tail is cut off the end of every load except imports. Default 0s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	Tail *metav1.Duration `json:"tail,omitempty"`

	// interval between two samples of the system's servers: CPU, memory,
	// connections, topics. Default 15s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') || duration(self) >= duration('1s')",message="measurement.interval must be at least 1s"
	Interval *metav1.Duration `json:"interval,omitempty"`

	// growth sets how growth under load is detected, such as a memory leak.
	// +optional
	Growth *Growth `json:"growth,omitempty"`

	// prometheus to query. Absent: the metrics API, which has CPU and memory.
	// +optional
	Prometheus *Prometheus `json:"prometheus,omitempty"`
}

// Growth sets how growth under load is detected.
type Growth struct {
	// after is how long heaps and caches may fill, from the start of the first load and
	// from each restart of a container: growth until then is no leak. A load of at least
	// four times this duration is long: its report shows growth over time. Default 30m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('0s')",message="write a duration with its unit: for example 500ms, 30s, 5m or 1h30m",messageExpression="'write a duration with its unit: for example 500ms, 30s, 5m or 1h30m' + (self.matches('^[0-9]+([.][0-9]+)?$') ? '; if seconds are meant, write ' + self + 's' : '')"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') || duration(self) >= duration('1m')",message="measurement.growth.after must be at least 1m"
	After *metav1.Duration `json:"after,omitempty"`

	// percentPerHour is the smallest growth in an hour that is reported, in percent of the
	// average. Default 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	PercentPerHour *int32 `json:"percentPerHour,omitempty"`
}

// Prometheus is a server with the system's metrics.
type Prometheus struct {
	// url of the server, for example http://prometheus.monitoring.svc:9090.
	// +required
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://[^ ]+$')",message="prometheus.url must begin with http:// or https://: for example http://prometheus.monitoring.svc:9090"
	URL string `json:"url"`

	// tokenSecret holds a bearer token under the key token.
	// +optional
	TokenSecret *SecretName `json:"tokenSecret,omitempty"`

	// metrics to record beside CPU and memory. For the metrics of Amazon RDS and MSK
	// see external.prometheus of postgres and kafka.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Metrics []CustomMetric `json:"metrics,omitempty"`
}

// CustomMetric is a number from Prometheus. It is recorded as custom/<name>, or
// as custom/<name>/<label> if the result has a label.
type CustomMetric struct {
	// name of the metric, for example gc-pause.
	// +required
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",message="a metric's name may have lower-case letters, digits and '-': for example gc-pause"
	Name string `json:"name"`

	// query in PromQL that returns one number, or one per value of label.
	// $namespace stands for the experiment's namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Query string `json:"query"`

	// label that distinguishes the series of the result.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Label string `json:"label,omitempty"`

	// unit of the number, for example s, MiB or %.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Unit string `json:"unit,omitempty"`

	// higherIsBetter: higher values are better. Default false.
	// +optional
	HigherIsBetter bool `json:"higherIsBetter,omitempty"`
}
