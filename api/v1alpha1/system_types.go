// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
)

// System is the system under test: Kafka, PostgreSQL and the Java services
// (modules) that use them.
//
// +kubebuilder:validation:XValidation:rule="has(self.target.url) || has(self.modules) && size(self.modules) > 0",message="system.modules is empty: list the Java services to run, or set target.url if the system is external"
// +kubebuilder:validation:XValidation:rule="!has(self.target.module) || has(self.modules) && self.modules.exists(m, m.name == self.target.module)",message="system.target.module must be the name of one of system.modules: that module receives the load"
type System struct {
	// target of the load.
	// +required
	Target Target `json:"target"`

	// kafka is the message broker of the system. Absent: the modules need none.
	// +optional
	Kafka *Kafka `json:"kafka,omitempty"`

	// postgres is the database of the system. Absent: the modules need none.
	// +optional
	Postgres *Postgres `json:"postgres,omitempty"`

	// modules are the Java services of the system, one Deployment and one
	// Service each. Absent: only if target.url is an external system.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=128
	Modules []Module `json:"modules,omitempty"`

	// patches change rendered objects that have no field in this API. They are
	// applied in order, after everything else.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Patches []Patch `json:"patches,omitempty"`
}

// PatchKind is a kind of object that PerfLab renders for a system.
// +kubebuilder:validation:Enum=Kafka;KafkaNodePool;Cluster;Pooler;Deployment;StatefulSet;Service
type PatchKind string

// Patch changes rendered objects by a JSON merge patch (RFC 7386).
type Patch struct {
	// kind of the objects: Kafka and KafkaNodePool (Strimzi), Cluster and
	// Pooler (CloudNativePG), Deployment, StatefulSet and Service (modules).
	// +required
	Kind PatchKind `json:"kind"`

	// name is a module's name for Deployment, StatefulSet and Service, and
	// broker or controller for KafkaNodePool. Absent: every object of the
	// kind.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// merge is the patch, for example {"spec": {"kafka": {"rack":
	// {"topologyKey": "topology.kubernetes.io/zone"}}}}. A field set to null is
	// removed. Lists are replaced as a whole. Authors of patches to the
	// security, volumes or identity of pods need the right to create pods.
	// +required
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	Merge runtime.RawExtension `json:"merge"`
}

// Placement selects the nodes of pods.
type Placement struct {
	// nodeSelector selects nodes by their labels, for example
	// {node.kubernetes.io/instance-type: r7g.xlarge}.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// affinity of the pods, as in a pod's spec.affinity.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// tolerations of the pods, as in a pod's spec.tolerations.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// topologySpread spreads the component's own pods over nodes or zones.
	// +optional
	// +listType=map
	// +listMapKey=topologyKey
	// +kubebuilder:validation:MaxItems=8
	TopologySpread []Spread `json:"topologySpread,omitempty"`
}

// Spread spreads a component's pods evenly over groups of nodes.
type Spread struct {
	// topologyKey is the node label that defines the groups, for example
	// kubernetes.io/hostname or topology.kubernetes.io/zone.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	TopologyKey string `json:"topologyKey"`

	// maxSkew is the largest difference in pods between groups. Default 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	MaxSkew int32 `json:"maxSkew,omitempty"`

	// whenUnsatisfiable is what happens to a pod that would exceed maxSkew.
	// Default DoNotSchedule.
	// +optional
	// +kubebuilder:default=DoNotSchedule
	// +kubebuilder:validation:Enum=DoNotSchedule;ScheduleAnyway
	WhenUnsatisfiable corev1.UnsatisfiableConstraintAction `json:"whenUnsatisfiable,omitempty"`
}

// Target is the target of the load and its login.
//
// +kubebuilder:validation:XValidation:rule="has(self.module) != has(self.url)",message="target needs exactly one of module (a module of this system) and url (an address outside it)"
type Target struct {
	// module is the module that receives every request of the load, usually
	// the gateway. Its address is also given to all modules as TARGET_URL and,
	// with a tenant, as OKAPI_URL.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Module string `json:"module,omitempty"`

	// url of a target outside this system. Example:
	// "http://okapi.folio.svc:9130".
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://[^/ ]+$')",message="target.url must be http:// or https:// with a host and an optional port, without a path: for example http://okapi.folio.svc:9130"
	URL string `json:"url,omitempty"`

	// tenant of a FOLIO system. Every request has it as X-Okapi-Tenant, and
	// modules as TENANT. Default: diku if a load is checkInCheckOut or
	// dataImport, otherwise none.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Tenant string `json:"tenant,omitempty"`

	// login is how checkInCheckOut and dataImport log in. Default Okapi.
	// +optional
	Login Login `json:"login,omitempty"`

	// credentialsSecret names the Secret, in the experiment's namespace, with
	// the keys username and password. Loads get them as the variables USERNAME
	// and PASSWORD, by reference, never copied; checkInCheckOut and dataImport
	// require them. Absent: a script has no login.
	// +optional
	CredentialsSecret SecretName `json:"credentialsSecret,omitzero"`
}

// Login is how loads log in.
// +kubebuilder:validation:Enum=Okapi;Expiring
type Login string

const (
	// LoginOkapi is POST /authn/login, with a token that does not expire.
	LoginOkapi Login = "Okapi"
	// LoginExpiring is POST /authn/login-with-expiry, with cookies that every
	// user renews before they expire, as Eureka requires.
	LoginExpiring Login = "Expiring"
)

// SecretName refers to a Secret in the same namespace. Authors need the right
// to get it.
type SecretName struct {
	// name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// KafkaProvider is what runs the Kafka cluster.
// +kubebuilder:validation:Enum=Strimzi;External
type KafkaProvider string

const (
	// KafkaProviderStrimzi runs Kafka through the Strimzi operator.
	KafkaProviderStrimzi KafkaProvider = "Strimzi"
	// KafkaProviderExternal uses existing brokers, for example Amazon MSK. PerfLab creates
	// and deletes its own topics and changes nothing else.
	KafkaProviderExternal KafkaProvider = "External"
)

// KafkaMode is where Kafka keeps its metadata.
// +kubebuilder:validation:Enum=KRaft;ZooKeeper
type KafkaMode string

const (
	// KafkaModeKRaft keeps metadata in Kafka itself.
	KafkaModeKRaft KafkaMode = "KRaft"
	// KafkaModeZooKeeper keeps metadata in ZooKeeper. Strimzi supports it up to
	// release 0.45, Kafka up to 3.9.
	KafkaModeZooKeeper KafkaMode = "ZooKeeper"
)

// Kafka declares a Kafka cluster and its topics.
//
// +kubebuilder:validation:XValidation:rule="self.provider == 'External' || has(self.brokers)",message="kafka.brokers is missing: write how many brokers to run, for example brokers: {replicas: 3}"
// +kubebuilder:validation:XValidation:rule="(self.provider == 'External') == has(self.external)",message="kafka.external goes with provider: External, and provider: External needs kafka.external with bootstrapServers"
// +kubebuilder:validation:XValidation:rule="self.provider != 'External' || !(has(self.brokers) || has(self.controllers) || has(self.zooKeeper) || has(self.config) || has(self.metrics))",message="PerfLab doesn't configure an External Kafka: remove brokers, controllers, zooKeeper, config and metrics, or use provider: Strimzi"
// +kubebuilder:validation:XValidation:rule="self.mode != 'ZooKeeper' || !has(self.controllers)",message="kafka.controllers requires mode: KRaft: with mode: ZooKeeper, use kafka.zooKeeper instead"
// +kubebuilder:validation:XValidation:rule="self.mode == 'ZooKeeper' || !has(self.zooKeeper)",message="kafka.zooKeeper requires mode: ZooKeeper: set it, or remove zooKeeper"
type Kafka struct {
	// provider of the cluster. Default Strimzi.
	// +optional
	// +kubebuilder:default=Strimzi
	Provider KafkaProvider `json:"provider,omitempty"`

	// mode is where metadata is kept. Default KRaft. With provider External,
	// runs on brokers in another mode are invalid.
	// +optional
	// +kubebuilder:default=KRaft
	Mode KafkaMode `json:"mode,omitempty"`

	// version of Kafka, for example "4.3.1". Absent: the provider's default.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Version string `json:"version,omitempty"`

	// brokers are the nodes that hold the topics.
	// +optional
	Brokers KafkaNodes `json:"brokers,omitzero"`

	// controllers are nodes that hold only metadata. Absent: the brokers are
	// controllers as well.
	// +optional
	Controllers *KafkaNodes `json:"controllers,omitempty"`

	// zooKeeper are the nodes that hold metadata with mode ZooKeeper. Absent
	// there: as many as brokers, three at most.
	// +optional
	ZooKeeper *KafkaNodes `json:"zooKeeper,omitempty"`

	// external is the address of existing brokers.
	// +optional
	External *ExternalKafka `json:"external,omitempty"`

	// config holds broker settings, for example
	// {"log.retention.minutes": "480"}.
	// +optional
	// +kubebuilder:validation:MaxProperties=128
	Config map[string]string `json:"config,omitempty"`

	// metrics makes the brokers serve Prometheus metrics on port 9404.
	// +optional
	Metrics *KafkaMetrics `json:"metrics,omitempty"`

	// topics to create before the modules start. An arm that changes their
	// partitions gets separate topics, because partitions can only grow.
	// +optional
	// +listType=map
	// +listMapKey=group
	// +kubebuilder:validation:MaxItems=32
	Topics []TopicGroup `json:"topics,omitempty"`
}

// KafkaNodes is a group of identical Kafka nodes.
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

	// jvmOptions are -XX options by name, for example
	// {MaxGCPauseMillis: "20", UseG1GC: "true"}.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	JVMOptions map[string]string `json:"jvmOptions,omitempty"`

	// storage of each node. Absent: ephemeral.
	// +optional
	Storage *Storage `json:"storage,omitempty"`

	// placement of the nodes' pods.
	// +optional
	Placement *Placement `json:"placement,omitempty"`
}

// KafkaMetrics makes brokers serve Prometheus metrics. Exactly one of its
// fields is set.
//
// +kubebuilder:validation:XValidation:rule="(has(self.reporter) && self.reporter) != has(self.jmxExporter)",message="kafka.metrics needs exactly one of reporter: true (Strimzi 0.46 and later) and jmxExporter (a ConfigMap with the exporter's rules)"
type KafkaMetrics struct {
	// reporter uses Strimzi's own reporter, which needs Strimzi 0.46 or later.
	// +optional
	Reporter bool `json:"reporter,omitempty"`

	// jmxExporter uses the Prometheus JMX exporter with these rules.
	// +optional
	JMXExporter *ConfigMapKey `json:"jmxExporter,omitempty"`
}

// ConfigMapKey refers to one entry of a ConfigMap in the same namespace.
type ConfigMapKey struct {
	// name of the ConfigMap.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// key of the entry.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// SecretKey refers to one entry of a Secret in the same namespace. Authors need
// the right to get it.
type SecretKey struct {
	// name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// key of the entry.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// ExternalKafka is the address and the login of existing brokers.
//
// +kubebuilder:validation:XValidation:rule="!has(self.prometheus) || self.prometheus.source != 'OpenMonitoring' || self.bootstrapServers.exists(server, server.matches('^b-[0-9]+(-public)?[.][A-Za-z0-9.-]+:[0-9]+$'))",message="open monitoring identifies brokers by MSK's host names: add one such as b-1.perf.x1y2z3.c2.kafka.eu-west-1.amazonaws.com:9096 to external.bootstrapServers, or use source: CloudWatch"
type ExternalKafka struct {
	// bootstrapServers are brokers as host:port, reachable from the operator
	// and from the modules.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^[^:/ ]+:[0-9]{1,5}$')",message="a bootstrap server is host:port without a scheme: for example b-1.msk.example.org:9092"
	BootstrapServers []string `json:"bootstrapServers"`

	// tls encrypts the connection. Absent: plain text.
	// +optional
	TLS *KafkaTLS `json:"tls,omitempty"`

	// sasl logs in with a name and a password. Absent: no login.
	// +optional
	SASL *KafkaSASL `json:"sasl,omitempty"`

	// prometheus locates the brokers of an Amazon MSK in measurement.prometheus. Their
	// metrics are recorded as kafka/broker-<id>/cpuUsed and so on. Absent: no such
	// metrics.
	// +optional
	Prometheus *KafkaInPrometheus `json:"prometheus,omitempty"`
}

// BrokerSource is the source of MSK's metrics in Prometheus.
// +kubebuilder:validation:Enum=CloudWatch;OpenMonitoring
type BrokerSource string

// Sources of MSK's metrics.
const (
	// BrokerSourceCloudWatch is an exporter of CloudWatch's metrics of AWS/Kafka:
	// yet-another-cloudwatch-exporter or prometheus/cloudwatch_exporter.
	BrokerSourceCloudWatch BrokerSource = "CloudWatch"
	// BrokerSourceOpenMonitoring is the brokers' own exporters, which MSK serves at
	// the ports 11001 (JMX) and 11002 (node).
	BrokerSourceOpenMonitoring BrokerSource = "OpenMonitoring"
)

// KafkaInPrometheus locates the brokers of an Amazon MSK in Prometheus.
//
// +kubebuilder:validation:XValidation:rule="(self.source == 'CloudWatch') == has(self.cluster)",message="external.prometheus.cluster, the name of the MSK cluster, is required with source: CloudWatch and forbidden with source: OpenMonitoring, which identifies brokers by their hosts"
type KafkaInPrometheus struct {
	// source of the metrics: an exporter of CloudWatch's metrics, or the brokers
	// themselves by MSK's open monitoring. Default CloudWatch.
	// +optional
	// +kubebuilder:default=CloudWatch
	Source BrokerSource `json:"source,omitempty"`

	// cluster is the name of the MSK cluster, in CloudWatch the dimension Cluster
	// Name.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9][A-Za-z0-9-]*$')",message="the name of an MSK cluster has letters, digits and '-': for example perf-msk"
	Cluster string `json:"cluster,omitempty"`
}

// KafkaTLS encrypts the connection to brokers.
type KafkaTLS struct {
	// ca is the certificate, in PEM, of the authority that signed the brokers'
	// certificates. Default: the operating system's authorities.
	// +optional
	CA *SecretKey `json:"ca,omitempty"`
}

// SASLMechanism is how to log in to Kafka.
// +kubebuilder:validation:Enum=PLAIN;SCRAM-SHA-256;SCRAM-SHA-512
type SASLMechanism string

// SASL mechanisms.
const (
	SASLPlain       SASLMechanism = "PLAIN"
	SASLScramSHA256 SASLMechanism = "SCRAM-SHA-256"
	SASLScramSHA512 SASLMechanism = "SCRAM-SHA-512"
)

// KafkaSASL logs in to brokers.
type KafkaSASL struct {
	// mechanism of the login. Default SCRAM-SHA-512, which MSK uses.
	// +optional
	// +kubebuilder:default=SCRAM-SHA-512
	Mechanism SASLMechanism `json:"mechanism,omitempty"`

	// credentialsSecret names the Secret with the keys username and password.
	// The operator reads it to create topics, for which it needs a Role, and
	// sends it only to hosts in the annotation perflab.dev/hosts.
	// +required
	CredentialsSecret SecretName `json:"credentialsSecret"`

	// insecurePlaintext allows mechanism PLAIN to send the password
	// in plain text, if tls is absent.
	// +optional
	InsecurePlaintext bool `json:"insecurePlaintext,omitempty"`
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

// TopicGroup declares identical topics.
//
// +kubebuilder:validation:XValidation:rule="[has(self.names), has(self.prefix), has(self.preset)].filter(x, x).size() == 1",message="a topic group needs exactly one of names (a list), prefix with count, and preset (topics of FOLIO)"
// +kubebuilder:validation:XValidation:rule="has(self.prefix) == has(self.count)",message="a topic group with a prefix needs a count, and a count needs a prefix"
type TopicGroup struct {
	// group is the name of the group, which arms refer to. Example: data-import.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Group string `json:"group"`

	// names of the topics, without the ENV prefix that the operator adds:
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

	// preset names the topics of FOLIO's modules.
	// +optional
	Preset *TopicPreset `json:"preset,omitempty"`

	// partitions of each topic. Default 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 10000",message="partitions must be from 1 to 10000"
	Partitions int32 `json:"partitions,omitempty"`

	// replicas of each partition. Default 1; at most the number of brokers.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 100",message="topic replicas must be from 1 to 100"
	Replicas int32 `json:"replicas,omitempty"`

	// config holds topic settings, for example {"retention.ms": "7200000"}.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Config map[string]string `json:"config,omitempty"`
}

// TopicPresetName is a family of FOLIO's topics.
// +kubebuilder:validation:Enum=DataImport;Domain;PubSub
type TopicPresetName string

const (
	// PresetDataImport is the 65 events of data import:
	// Default.<tenant>.<EVENT>.
	PresetDataImport TopicPresetName = "DataImport"
	// PresetDomain is the domain events of inventory, circulation, users,
	// orders and others: <tenant>.<module>.<topic>.
	PresetDomain TopicPresetName = "Domain"
	// PresetPubSub is the events of mod-pubsub:
	// pub-sub.<tenant>.<EVENT>.mod-pubsub-<version>.
	PresetPubSub TopicPresetName = "PubSub"
)

// TopicPreset names the topics of FOLIO's modules, for each tenant.
//
// +kubebuilder:validation:XValidation:rule="self.name != 'PubSub' || has(self.version)",message="the preset PubSub needs the version of mod-pubsub, because it is part of the topics' names: for example version: 2.7.0"
type TopicPreset struct {
	// name of the family.
	// +required
	Name TopicPresetName `json:"name"`

	// tenants of the topics. Default: the target's tenant.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=63
	Tenants []string `json:"tenants,omitempty"`

	// collection replaces the tenant in topics of all tenants' events, like
	// KAFKA_PRODUCER_TENANT_COLLECTION. Example: ALL.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Z][A-Z0-9]{0,30}$')",message="a tenant collection is written in capital letters and digits: for example ALL"
	Collection string `json:"collection,omitempty"`

	// version of mod-pubsub.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Version string `json:"version,omitempty"`
}

// PostgresProvider is what runs the PostgreSQL cluster.
// +kubebuilder:validation:Enum=CloudNativePG;External
type PostgresProvider string

const (
	// PostgresProviderCloudNativePG runs PostgreSQL through CloudNativePG.
	PostgresProviderCloudNativePG PostgresProvider = "CloudNativePG"
	// PostgresProviderExternal uses an existing server, for example Amazon RDS. PerfLab
	// does not configure it.
	PostgresProviderExternal PostgresProvider = "External"
)

// Postgres declares a PostgreSQL cluster with one database.
//
// +kubebuilder:validation:XValidation:rule="self.provider == 'External' || !has(self.readWriteSplit) || !self.readWriteSplit.enabled || self.instances >= 2",message="postgres.readWriteSplit.enabled needs postgres.instances of 2 or more: with one instance there is no replica to read from"
// +kubebuilder:validation:XValidation:rule="self.provider != 'External' || !has(self.readWriteSplit) || !self.readWriteSplit.enabled || (has(self.external) && has(self.external.readerHost))",message="postgres.readWriteSplit.enabled needs postgres.external.readerHost: without it there is no replica to read from"
// +kubebuilder:validation:XValidation:rule="(self.provider == 'External') == has(self.external)",message="postgres.external goes with provider: External, and provider: External needs postgres.external with host and credentialsSecret"
// +kubebuilder:validation:XValidation:rule="self.provider != 'External' || !(has(self.parameters) || has(self.storage) || has(self.pooler) || has(self.image) || has(self.placement))",message="PerfLab doesn't configure an External PostgreSQL: remove image, parameters, storage, pooler and placement, or use provider: CloudNativePG"
type Postgres struct {
	// provider of the cluster. Default CloudNativePG.
	// +optional
	// +kubebuilder:default=CloudNativePG
	Provider PostgresProvider `json:"provider,omitempty"`

	// instances is the number of servers: one primary, the others replicas.
	// Default 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 16",message="postgres.instances must be from 1 to 16: one primary and up to 15 replicas"
	Instances int32 `json:"instances,omitempty"`

	// external is the address of an existing server.
	// +optional
	External *ExternalPostgres `json:"external,omitempty"`

	// image of the server. Its tag must start with PostgreSQL's major
	// version. Absent: the provider's default.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// readWriteSplit sends the modules' reads to the replicas.
	// +optional
	ReadWriteSplit *ReadWriteSplit `json:"readWriteSplit,omitempty"`

	// pooler puts PgBouncer between the modules and PostgreSQL.
	// +optional
	Pooler *Pooler `json:"pooler,omitempty"`

	// parameters are PostgreSQL settings, for example
	// {"max_connections": "300"}.
	// +optional
	// +kubebuilder:validation:MaxProperties=128
	Parameters map[string]string `json:"parameters,omitempty"`

	// statements loads pg_stat_statements to report the slowest statements.
	// Default true.
	// +optional
	// +kubebuilder:default=true
	Statements *bool `json:"statements,omitempty"`

	// storage of each instance. Default 1Gi of the default StorageClass.
	// +optional
	Storage *Storage `json:"storage,omitempty"`

	// resources of each instance.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`

	// placement of the instances' pods. CloudNativePG also prefers different
	// nodes for them.
	// +optional
	Placement *Placement `json:"placement,omitempty"`
}

// ExternalPostgres is the address and the login of an existing server.
type ExternalPostgres struct {
	// host of the primary.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Host string `json:"host"`

	// port of the primary. Default 5432.
	// +optional
	// +kubebuilder:default=5432
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// readerHost is the host of the replicas, for the read/write split.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ReaderHost string `json:"readerHost,omitempty"`

	// readerPort is the port of the replicas. Default 5432.
	// +optional
	// +kubebuilder:default=5432
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	ReaderPort int32 `json:"readerPort,omitempty"`

	// database to use.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Database string `json:"database"`

	// credentialsSecret names the Secret with the keys username and password.
	// The modules get it by reference; the operator never reads it.
	// +required
	CredentialsSecret SecretName `json:"credentialsSecret"`

	// prometheus locates the instances of an Amazon RDS or Aurora in
	// measurement.prometheus. Their metrics are recorded as
	// postgres/primary/cpuUsed and so on. Absent: no such metrics.
	// +optional
	Prometheus *PostgresInPrometheus `json:"prometheus,omitempty"`
}

// DBInstance is an Amazon RDS DBInstanceIdentifier.
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z][a-z0-9]*(-[a-z0-9]+)*$')",message="a DBInstanceIdentifier has lower-case letters, digits and single '-', and begins with a letter: for example folio-writer"
type DBInstance string

// PostgresInPrometheus locates the instances of Amazon RDS in Prometheus, which
// has their metrics from an exporter of CloudWatch
// (yet-another-cloudwatch-exporter, prometheus/cloudwatch_exporter) or from
// prometheus-rds-exporter.
type PostgresInPrometheus struct {
	// instance is the DBInstanceIdentifier of the primary, postgres/primary in
	// metrics.
	// +required
	Instance DBInstance `json:"instance"`

	// readerInstances are those of the replicas: the first is postgres/replica-1.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=15
	ReaderInstances []DBInstance `json:"readerInstances,omitempty"`
}

// PoolMode is how long a client keeps a server connection.
// +kubebuilder:validation:Enum=session;transaction
type PoolMode string

// Pooler puts PgBouncer between the modules and PostgreSQL: one for the
// primary and, with the read/write split, one for the replicas.
type Pooler struct {
	// instances of each PgBouncer. Default 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 16",message="postgres.pooler.instances must be from 1 to 16"
	Instances int32 `json:"instances,omitempty"`

	// mode of pooling. Default session: RMB modules set the schema of a
	// tenant on the connection and prepare statements, which transaction
	// pooling may lose.
	// +optional
	// +kubebuilder:default=session
	Mode PoolMode `json:"mode,omitempty"`

	// parameters of PgBouncer, for example {"default_pool_size": "50"}.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Parameters map[string]string `json:"parameters,omitempty"`
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

// Module declares one Java service: one that PerfLab runs (image), or an existing
// workload that it adopts for the runs (workloadRef).
//
// +kubebuilder:validation:XValidation:rule="!has(self.workloadRef) || !(has(self.command) || has(self.args) || has(self.healthPort) || has(self.ports) || has(self.volumes))",message="command, args, healthPort, ports and volumes are for a module with an image: an existing workload (workloadRef) has its own; remove them"
// +kubebuilder:validation:XValidation:rule="has(self.image) != has(self.workloadRef)",message="a module needs exactly one of image (PerfLab runs it) and workloadRef (PerfLab adopts it and releases it afterwards)"
type Module struct {
	// name of the module. Its Deployment and Service are called
	// <experiment>-<name>; the other modules get its address as
	// <NAME>_URL, for example INVENTORY_STORAGE_URL.
	// +required
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([a-z0-9-]*[a-z0-9])?$')",message="a module name may have lower-case letters, digits and '-', and starts with a letter: for example mod-inventory"
	Name string `json:"name"`

	// image of the module, with a tag or digest.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// workloadRef names an existing Deployment or StatefulSet. Its environment,
	// JVM, resources, replicas and placement are changed for the runs and
	// restored at the end.
	// +optional
	WorkloadRef *WorkloadRef `json:"workloadRef,omitempty"`

	// replicas is the number of pods; 0: the module does not run. Default 1;
	// for an existing workload: its own.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 0 && self <= 100",message="replicas of a module must be from 0 to 100"
	Replicas *int32 `json:"replicas,omitempty"`

	// resources of each pod's container.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`

	// jvm settings become a variable, by default JAVA_OPTIONS.
	// +optional
	JVM *JVM `json:"jvm,omitempty"`

	// env holds further environment variables. They override those that the
	// operator sets.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=128
	Env []corev1.EnvVar `json:"env,omitempty"`

	// port the module listens on. Default: 8081 in a FOLIO system (one with a
	// tenant, a topic preset, or a load checkInCheckOut or dataImport),
	// otherwise 8080.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// runAsUser is the user ID of the module's process. Set it if the image has
	// a user name instead of an ID: pods must not run as root, and Kubernetes
	// can't verify a name. Default: the image's.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 65535",message="runAsUser must be from 1 to 65535: modules do not run as root"
	RunAsUser *int64 `json:"runAsUser,omitempty"`

	// command replaces the image's entry point. $(NAME) stands for the value of
	// a variable of the module. For modules with an image.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=1024
	Command []string `json:"command,omitempty"`

	// args replace the arguments of the image's entry point, for example
	// [start, --optimized]. $(NAME) stands for the value of a variable of the
	// module. For modules with an image.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=1024
	Args []string `json:"args,omitempty"`

	// healthPort serves healthPath, if not port does: some frameworks have a
	// separate management port. For modules with an image.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	HealthPort *int32 `json:"healthPort,omitempty"`

	// ports are further ports of the module's pods and Service. For modules
	// with an image.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Ports []ModulePort `json:"ports,omitempty"`

	// volumes are mounted into the module's container, for example a
	// ConfigMap with its configuration. For modules with an image.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Volumes []ModuleVolume `json:"volumes,omitempty"`

	// healthPath returns 200 when the module is ready. Default: /admin/health in
	// a FOLIO system; otherwise none, and a module is ready when its port
	// accepts connections.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/')",message="healthPath must begin with '/': for example /health"
	HealthPath string `json:"healthPath,omitempty"`

	// placement of the module's pods.
	// +optional
	Placement *Placement `json:"placement,omitempty"`

	// readsFromReplica: the module can send its reads to a replica. Default: that
	// of FOLIO's module of this name. The experiment has a warning if the split is
	// enabled for a module that can't.
	// +optional
	ReadsFromReplica *bool `json:"readsFromReplica,omitempty"`
}

// ModulePort is a further port of a module.
type ModulePort struct {
	// name of the port.
	// +required
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([a-z0-9-]*[a-z0-9])?$') && self != 'http'",message="a port's name may have lower-case letters, digits and '-', starts with a letter and is not http, which is the module's own port: for example management"
	Name string `json:"name"`

	// port the module listens on.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
}

// ModuleVolume is mounted into a module's container. It has exactly one source.
//
// +kubebuilder:validation:XValidation:rule="[has(self.configMap), has(self.secret), has(self.emptyDir), has(self.persistentVolumeClaim)].filter(x, x).size() == 1",message="a volume needs exactly one of configMap, secret, emptyDir and persistentVolumeClaim"
type ModuleVolume struct {
	// name of the volume.
	// +required
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([a-z0-9-]*[a-z0-9])?$')",message="a volume's name may have lower-case letters, digits and '-', and starts with a letter: for example realm"
	Name string `json:"name"`

	// mountPath is the folder the volume is mounted at.
	// +required
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/')",message="mountPath must begin with '/': for example /opt/app/conf"
	MountPath string `json:"mountPath"`

	// subPath mounts one file or folder of the volume at mountPath instead of
	// the whole.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	SubPath string `json:"subPath,omitempty"`

	// readOnly keeps the module from writing to it. ConfigMaps and Secrets
	// always are.
	// +optional
	ReadOnly bool `json:"readOnly,omitempty"`

	// configMap whose entries are files.
	// +optional
	ConfigMap *VolumeObject `json:"configMap,omitempty"`

	// secret whose entries are files.
	// +optional
	Secret *VolumeObject `json:"secret,omitempty"`

	// emptyDir is a folder that is empty when the pod starts.
	// +optional
	EmptyDir *EmptyDir `json:"emptyDir,omitempty"`

	// persistentVolumeClaim is an existing claim.
	// +optional
	PersistentVolumeClaim *VolumeClaim `json:"persistentVolumeClaim,omitempty"`
}

// VolumeObject names a ConfigMap or a Secret in the experiment's namespace.
type VolumeObject struct {
	// name of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// EmptyDir is a folder that is deleted with its pod.
type EmptyDir struct {
	// memory keeps it in memory instead of on disk.
	// +optional
	Memory bool `json:"memory,omitempty"`

	// sizeLimit bounds it. Absent: the node's disk, or the pod's memory limit.
	// +optional
	SizeLimit *resource.Quantity `json:"sizeLimit,omitempty"`
}

// VolumeClaim names a PersistentVolumeClaim in the experiment's namespace.
type VolumeClaim struct {
	// claimName of the PersistentVolumeClaim.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ClaimName string `json:"claimName"`
}

// WorkloadKind is the kind of an existing workload.
// +kubebuilder:validation:Enum=Deployment;StatefulSet
type WorkloadKind string

// Kinds of workloads that can be adopted.
const (
	WorkloadDeployment  WorkloadKind = "Deployment"
	WorkloadStatefulSet WorkloadKind = "StatefulSet"
)

// WorkloadRef names an existing workload in the experiment's namespace. Authors
// need the right to patch it.
type WorkloadRef struct {
	// kind of the workload. Default Deployment.
	// +optional
	// +kubebuilder:default=Deployment
	Kind WorkloadKind `json:"kind,omitempty"`

	// name of the workload.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// container of the JVM. Default: the workload's first.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Container string `json:"container,omitempty"`

	// service of the workload, for a target. Default: the Service with the
	// workload's name.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Service string `json:"service,omitempty"`

	// servicePort of the service. Default 80.
	// +optional
	// +kubebuilder:default=80
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	ServicePort int32 `json:"servicePort,omitempty"`
}

// JVM declares the memory of a Java service.
type JVM struct {
	// variable for the settings, which the image's start script passes to the
	// JVM: for example JAVA_OPTS, JAVA_TOOL_OPTIONS (which the JVM reads
	// itself) or JAVA_OPTS_APPEND. Default JAVA_OPTIONS.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][A-Za-z0-9_]*$')",message="jvm.variable must be the name of an environment variable: for example JAVA_OPTS"
	Variable string `json:"variable,omitempty"`

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
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{1,3}([.][0-9]{1,2})?$') && double(self) >= 1.0 && double(self) <= 95.0",message="jvm.heap.maxRAMPercentage must be a number from 1 to 95, in quotes and without a percent sign: for example \"66\" or \"70.1\"; the rest of the memory is for metaspace, threads and buffers"
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
