// SPDX-License-Identifier: Apache-2.0

// Package collector plans the sampling of a run's servers under load: a Config for the
// collector, and the Job that runs it next to the loads with few rights. It is pure; its
// subpackage sampler does the sampling.
package collector

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/network/egress"
)

// Variables of the collector's environment. Logins refer to Secrets; nothing else is secret.
const (
	// EnvConfig holds the Config as JSON.
	EnvConfig = "PERFLAB_COLLECTOR"
	// EnvPod holds the name of the collector's own pod.
	EnvPod = "POD_NAME"
	// EnvNode holds the name of the node it runs on.
	EnvNode = "NODE_NAME"
	// EnvKafkaUsername and the following variables log in to Kafka.
	EnvKafkaUsername = "KAFKA_USERNAME"
	EnvKafkaPassword = "KAFKA_PASSWORD"
	// EnvKafkaCA holds the CA certificate of the brokers, in PEM.
	EnvKafkaCA = "KAFKA_CA"
	// EnvPrometheusToken holds a bearer token.
	EnvPrometheusToken = "PROMETHEUS_TOKEN"
)

// Config of a collector. It contains no secret.
type Config struct {
	Run       string `json:"run"`
	Namespace string `json:"namespace"`
	// Interval between two rounds. It doubles as a run gets long.
	Interval time.Duration `json:"interval"`
	// Longest is the maximum duration of the collector.
	Longest time.Duration `json:"longest"`
	// Components are the pods to sample; the first that matches a pod counts.
	Components []Component `json:"components"`
	Prometheus *Prometheus `json:"prometheus,omitempty"`
	Postgres   *Postgres   `json:"postgres,omitempty"`
	Kafka      *Kafka      `json:"kafka,omitempty"`
	// Egress holds the operator's lists of allowed and denied connections.
	Egress egress.Lists `json:"egress,omitzero"`
}

// Component is a part of the system with its own pods.
type Component struct {
	// Name in metrics, for example module/mod-users; with numbered pods the name's beginning, for
	// example kafka/broker-.
	Name string `json:"name"`
	// Selector of the component's pods by label, as kubectl writes it.
	Selector string `json:"selector"`
	// Numbered is the source of a pod's number; empty: all pods together are the component.
	Numbered Numbering `json:"numbered,omitempty"`
	// Controller is the UID of the object that controls its pods; empty: any selected pod.
	Controller types.UID `json:"controller,omitempty"`
}

// ControlInstances limits PostgreSQL servers to pods that this object controls: the collector logs
// in to them, and any pod could have their labels.
func (c *Config) ControlInstances(by types.UID) {
	for i := range c.Components {
		if one := &c.Components[i]; one.Name == metric.Primary || one.Name == metric.Replica {
			one.Controller = by
		}
	}
}

// Numbering is the source of a pod's number.
type Numbering string

const (
	// ByOrdinal uses the number at the end of the pod's name.
	ByOrdinal Numbering = "Ordinal"
	// ByRank counts the pods in the order of their names, from 1.
	ByRank Numbering = "Rank"
)

// Prometheus specifies the queries to a Prometheus.
type Prometheus struct {
	URL     string   `json:"url"`
	Metrics []Metric `json:"metrics,omitempty"`
	// Databases on Amazon RDS.
	Databases []Database `json:"databases,omitempty"`
	// Cluster is the name of the MSK cluster in CloudWatch.
	Cluster string `json:"cluster,omitempty"`
	// BrokerDomain is the suffix of the host names of MSK's brokers after b-1. and so on, for
	// their own exporters.
	BrokerDomain string `json:"brokerDomain,omitempty"`
}

// Database is an instance of Amazon RDS.
type Database struct {
	Component string `json:"component"`
	Instance  string `json:"instance"`
}

// Metric is a custom metric that the experiment declares.
type Metric struct {
	Name  string `json:"name"`
	Query string `json:"query"`
	// Label whose values distinguish the series of the response; empty: one number.
	Label string `json:"label,omitempty"`
	Unit  string `json:"unit,omitempty"`
}

// Postgres lists the servers to sample. Database, user and password are in the environment,
// under the names libpq reads.
type Postgres struct {
	// Servers that exist already. None: those of the pods.
	Servers []Server `json:"servers,omitempty"`
}

// Server is a PostgreSQL server.
type Server struct {
	Component string `json:"component"`
	Host      string `json:"host"`
	Port      int32  `json:"port"`
}

// Kafka specifies the connection to the brokers. The login is in the environment.
type Kafka struct {
	Servers   []string               `json:"servers"`
	TLS       bool                   `json:"tls,omitempty"`
	Mechanism v1alpha1.SASLMechanism `json:"mechanism,omitempty"`
	// InsecurePlaintext allows PLAIN without TLS.
	InsecurePlaintext bool `json:"insecurePlaintext,omitempty"`
}
