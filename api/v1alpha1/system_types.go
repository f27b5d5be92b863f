// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// System is what is under test: Kafka, PostgreSQL and the Java services
// (modules) that use them.
//
// +kubebuilder:validation:XValidation:rule="!has(self.target.module) || self.modules.exists(m, m.name == self.target.module)",message="system.target.module must be the name of one of system.modules: that module receives the load"
// +kubebuilder:validation:XValidation:rule="!has(self.postgres) || !has(self.postgres.readWriteSplit) || !has(self.postgres.readWriteSplit.exclude) || self.postgres.readWriteSplit.exclude.all(x, self.modules.exists(m, m.name == x))",message="postgres.readWriteSplit.exclude names a module that system.modules does not have: write the name of an existing module"
type System struct {
	// target says where the load goes and as whom.
	// +required
	Target Target `json:"target"`

	// kafka is the message broker of the system. Absent: the modules need none.
	// +optional
	Kafka *Kafka `json:"kafka,omitempty"`

	// postgres is the database of the system. Absent: the modules need none.
	// +optional
	Postgres *Postgres `json:"postgres,omitempty"`

	// modules are the Java services of the system, one Deployment and one
	// Service each.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=128
	Modules []Module `json:"modules"`
}

// Target says where the load goes and as whom.
//
// +kubebuilder:validation:XValidation:rule="has(self.module) != has(self.url)",message="target needs exactly one of module (a module of this system) and url (an address outside it)"
type Target struct {
	// module is the module that receives every request of the load, usually
	// the gateway. Its address is also given to all modules as OKAPI_URL.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Module string `json:"module,omitempty"`

	// url is the address of a target that is not a module of this system.
	// Example: "http://okapi.folio.svc:9130".
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://[^/ ]+$')",message="target.url must be http:// or https:// with a host and, if need be, a port, without a path: for example http://okapi.folio.svc:9130"
	URL string `json:"url,omitempty"`

	// tenant is sent as X-Okapi-Tenant with every request.
	// +optional
	// +kubebuilder:default=diku
	// +kubebuilder:validation:MaxLength=63
	Tenant string `json:"tenant,omitempty"`

	// credentialsSecret names the Secret, in the experiment's namespace, with
	// the keys username and password the load logs in with. It is passed to
	// the load by reference, never copied.
	// +required
	CredentialsSecret SecretName `json:"credentialsSecret"`
}

// SecretName refers to a Secret in the same namespace.
type SecretName struct {
	// name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// KafkaProvider says who runs the Kafka cluster.
// +kubebuilder:validation:Enum=Strimzi
type KafkaProvider string

// KafkaProviderStrimzi runs Kafka through the Strimzi operator.
const KafkaProviderStrimzi KafkaProvider = "Strimzi"

// KafkaMode says where Kafka keeps its metadata.
// +kubebuilder:validation:Enum=KRaft
type KafkaMode string

// KafkaModeKRaft keeps metadata in Kafka itself.
const KafkaModeKRaft KafkaMode = "KRaft"

// Kafka declares a Kafka cluster and its topics.
//
// +kubebuilder:validation:XValidation:rule="!has(self.topics) || self.topics.all(t, t.replicas <= self.brokers.replicas)",message="a topic group has more replicas than Kafka has brokers: lower the group's replicas or raise brokers.replicas"
type Kafka struct {
	// provider says who runs the cluster. Default Strimzi.
	// +optional
	// +kubebuilder:default=Strimzi
	Provider KafkaProvider `json:"provider,omitempty"`

	// mode says where metadata is kept. Default KRaft.
	// +optional
	// +kubebuilder:default=KRaft
	Mode KafkaMode `json:"mode,omitempty"`

	// version of Kafka, for example "4.3.1". Absent: the provider's default.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Version string `json:"version,omitempty"`

	// brokers are the nodes that hold the topics.
	// +required
	Brokers KafkaNodes `json:"brokers"`

	// controllers are nodes that hold only metadata. Absent: the brokers are
	// controllers as well.
	// +optional
	Controllers *KafkaNodes `json:"controllers,omitempty"`

	// config holds broker settings, for example
	// {"log.retention.minutes": "480"}.
	// +optional
	// +kubebuilder:validation:MaxProperties=128
	Config map[string]string `json:"config,omitempty"`

	// topics are created before the modules start. An arm that changes their
	// partitions gets topics of its own, because partitions can only grow.
	// +optional
	// +listType=map
	// +listMapKey=group
	// +kubebuilder:validation:MaxItems=32
	Topics []TopicGroup `json:"topics,omitempty"`
}

// KafkaNodes declares a group of Kafka nodes that are alike.
type KafkaNodes struct {
	// replicas is the number of nodes.
	// +required
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 100",message="replicas of Kafka nodes must be from 1 to 100: a Kafka without nodes cannot serve"
	Replicas int32 `json:"replicas"`

	// resources of each node's container.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`

	// heap is the JVM heap of each node, both -Xms and -Xmx. Absent: the
	// provider's default (Strimzi: half of the memory limit, 5 GiB at most).
	// +optional
	Heap *resource.Quantity `json:"heap,omitempty"`

	// storage of each node. Absent: ephemeral.
	// +optional
	Storage *Storage `json:"storage,omitempty"`
}

// Storage declares a volume.
type Storage struct {
	// size of the volume. Example: 100Gi.
	// +required
	Size resource.Quantity `json:"size"`

	// class is the StorageClass. Absent: the cluster's default.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Class string `json:"class,omitempty"`
}

// TopicGroup declares topics that are alike.
//
// +kubebuilder:validation:XValidation:rule="has(self.names) != has(self.prefix)",message="a topic group needs either names (a list) or prefix and count, not both and not neither"
// +kubebuilder:validation:XValidation:rule="has(self.prefix) == has(self.count)",message="a topic group with a prefix needs a count, and a count needs a prefix"
type TopicGroup struct {
	// group names this list, so that arms can refer to it. Example: data-import.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Group string `json:"group"`

	// names of the topics, without the ENV prefix the operator puts in front:
	// "Default.diku.DI_COMPLETED" becomes "<ENV>.Default.diku.DI_COMPLETED".
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:items:MaxLength=200
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^[a-zA-Z0-9._-]+$')",message="a topic's name may have letters, digits, '.', '_' and '-': for example Default.diku.DI_COMPLETED"
	Names []string `json:"names,omitempty"`

	// prefix of numbered topics: prefix-1 … prefix-count.
	// +optional
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z0-9._-]+$')",message="a topic's name may have letters, digits, '.', '_' and '-': for example Default.diku.PUB"
	Prefix string `json:"prefix,omitempty"`

	// count of numbered topics.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=5000
	Count *int32 `json:"count,omitempty"`

	// partitions of each topic. Default 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 10000",message="partitions must be from 1 to 10000"
	Partitions int32 `json:"partitions,omitempty"`

	// replicas of each partition. Default 1; not more than there are brokers.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 100",message="topic replicas must be from 1 to 100"
	Replicas int32 `json:"replicas,omitempty"`

	// config holds topic settings, for example {"retention.ms": "7200000"}.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Config map[string]string `json:"config,omitempty"`
}

// PostgresProvider says who runs the PostgreSQL cluster.
// +kubebuilder:validation:Enum=CloudNativePG
type PostgresProvider string

// PostgresProviderCloudNativePG runs PostgreSQL through CloudNativePG.
const PostgresProviderCloudNativePG PostgresProvider = "CloudNativePG"

// Postgres declares a PostgreSQL cluster with one database.
//
// +kubebuilder:validation:XValidation:rule="!has(self.readWriteSplit) || !self.readWriteSplit.enabled || self.instances >= 2",message="postgres.readWriteSplit.enabled needs postgres.instances of 2 or more: with one instance there is no replica to read from"
type Postgres struct {
	// provider says who runs the cluster. Default CloudNativePG.
	// +optional
	// +kubebuilder:default=CloudNativePG
	Provider PostgresProvider `json:"provider,omitempty"`

	// instances is the number of servers: one primary, the others replicas.
	// Default 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 16",message="postgres.instances must be from 1 to 16: one primary and up to 15 replicas"
	Instances int32 `json:"instances,omitempty"`

	// image of the server. Its tag must start with PostgreSQL's major
	// version. Absent: the provider's default.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// readWriteSplit sends the modules' reads to the replicas.
	// +optional
	ReadWriteSplit *ReadWriteSplit `json:"readWriteSplit,omitempty"`

	// parameters are PostgreSQL settings, for example
	// {"max_connections": "300"}.
	// +optional
	// +kubebuilder:validation:MaxProperties=128
	Parameters map[string]string `json:"parameters,omitempty"`

	// storage of each instance. Default 1Gi of the default StorageClass.
	// +optional
	Storage *Storage `json:"storage,omitempty"`

	// resources of each instance.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`
}

// ReadWriteSplit sends the modules' reads to the replicas: modules get
// DB_HOST_READER and DB_PORT_READER beside DB_HOST and DB_PORT.
type ReadWriteSplit struct {
	// enabled turns the split on.
	// +required
	Enabled bool `json:"enabled"`

	// synchronous makes a commit wait until a replica has applied it
	// (remote_apply), so that a read after a write is never stale.
	// +optional
	Synchronous bool `json:"synchronous,omitempty"`

	// exclude lists modules that keep reading from the primary.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:items:MaxLength=63
	Exclude []string `json:"exclude,omitempty"`
}

// Module declares one Java service.
type Module struct {
	// name of the module. Its Deployment and Service are called
	// <experiment>-<name>; the other modules get its address as
	// <NAME>_URL, for example INVENTORY_STORAGE_URL.
	// +required
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([a-z0-9-]*[a-z0-9])?$')",message="a module name may have lower-case letters, digits and '-', and starts with a letter: for example mod-inventory"
	Name string `json:"name"`

	// image of the module, with a tag or digest.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image"`

	// replicas is the number of pods. Default 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 100",message="replicas of a module must be from 1 to 100"
	Replicas int32 `json:"replicas,omitempty"`

	// resources of each pod's container.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`

	// jvm settings become JAVA_OPTIONS.
	// +optional
	JVM *JVM `json:"jvm,omitempty"`

	// env holds further environment variables. They win over those the
	// operator sets, so use them with care.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=128
	Env []corev1.EnvVar `json:"env,omitempty"`

	// port the module listens on. Default 8081.
	// +optional
	// +kubebuilder:default=8081
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// runAsUser is the user id of the module's process. It is needed where the
	// image names its user instead of numbering it, because pods must not
	// run as root and a name does not tell. Absent: the image's.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 65535",message="runAsUser must be from 1 to 65535: modules do not run as root"
	RunAsUser *int64 `json:"runAsUser,omitempty"`

	// healthPath answers 200 when the module can serve. Default
	// /admin/health.
	// +optional
	// +kubebuilder:default=/admin/health
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/')",message="healthPath must begin with '/': for example /admin/health"
	HealthPath string `json:"healthPath,omitempty"`
}

// JVM declares the memory of a Java service.
type JVM struct {
	// heap limits the heap.
	// +optional
	Heap *Heap `json:"heap,omitempty"`

	// metaspace sizes the class metadata area.
	// +optional
	Metaspace *Metaspace `json:"metaspace,omitempty"`

	// options are further JVM flags, for example -XX:+UseSerialGC.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.all(o, !o.startsWith('-Xmx') && !o.startsWith('-XX:MaxRAMPercentage'))",message="jvm.options must not set the heap: write jvm.heap.max instead of -Xmx and jvm.heap.maxRAMPercentage instead of -XX:MaxRAMPercentage"
	Options []string `json:"options,omitempty"`
}

// Heap limits a JVM's heap, by size or by share of the container's memory
// limit. An arm's heap replaces the system's as a whole.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.max) && has(self.maxRAMPercentage))",message="jvm.heap has both max and maxRAMPercentage: the JVM would ignore the percentage; write only one of them"
// +kubebuilder:validation:XValidation:rule="has(self.max) || has(self.maxRAMPercentage)",message="jvm.heap needs max (a size, for example 768Mi) or maxRAMPercentage (for example \"66\")"
type Heap struct {
	// max is the heap's size (-Xmx). Example: 768Mi.
	// +optional
	Max *resource.Quantity `json:"max,omitempty"`

	// maxRAMPercentage is the heap's share of the container's memory limit in
	// percent (-XX:MaxRAMPercentage). Example: "66".
	// +optional
	// +kubebuilder:validation:MaxLength=6
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{1,3}([.][0-9]{1,2})?$') && double(self) > 0.0 && double(self) <= 100.0",message="jvm.heap.maxRAMPercentage must be a number above 0 and up to 100, in quotes and without a percent sign: for example \"66\" or \"70.1\""
	MaxRAMPercentage string `json:"maxRAMPercentage,omitempty"`
}

// Metaspace sizes a JVM's class metadata area.
type Metaspace struct {
	// initial size (-XX:MetaspaceSize).
	// +optional
	Initial *resource.Quantity `json:"initial,omitempty"`

	// max size (-XX:MaxMetaspaceSize).
	// +optional
	Max *resource.Quantity `json:"max,omitempty"`
}
