// SPDX-License-Identifier: Apache-2.0

package references

import (
	"maps"

	"perflab.dev/perflab/api/v1alpha1"
)

// shape is what anybody may set by a patch of an object. What is not in it
// makes pods that are more than PerfLab makes by itself, as far as one can tell:
// it may touch their security, their volumes or their identity. So a field that
// Kubernetes or an operator gets later takes a right until it is known here.
//
// A shape with fields holds for every entry of a list.
type shape struct {
	// free: nothing beneath it reaches beyond the object.
	free bool
	// names: it takes no right but those over what is named beneath it.
	names bool
	// image: it is one that runs as CloudNativePG's ServiceAccount.
	image bool
	// fields are looked into one by one.
	fields fields
}

// fields are those of an object, by name.
type fields map[string]shape

// free are fields that reach for nothing.
func free(names ...string) fields {
	all := fields{}
	for _, name := range names {
		all[name] = shape{free: true}
	}
	return all
}

// object has the fields of all parts.
func object(parts ...fields) shape {
	all := fields{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return shape{fields: all}
}

var (
	named = shape{names: true}
	image = shape{image: true}

	// source is a volume that holds what is named, or nothing of others.
	source = fields{"configMap": named, "secret": named, "downwardAPI": {free: true}}

	volumes = object(free("name", "emptyDir"), source, fields{
		"projected": object(free("defaultMode"), fields{"sources": object(source)}),
	})

	// podTemplate leaves out metadata, by which Services of others select pods and
	// by which clouds and meshes tell who a pod is, and containers, whose list a
	// patch replaces with their securityContext.
	podTemplate = object(fields{"spec": object(
		free("affinity", "dnsConfig", "dnsPolicy", "enableServiceLinks", "hostAliases", "hostname", "nodeSelector", "subdomain",
			"terminationGracePeriodSeconds", "tolerations", "topologySpreadConstraints"),
		fields{"imagePullSecrets": named, "volumes": volumes},
	)})

	workload = object(free("metadata"), fields{"spec": object(
		free("minReadySeconds", "paused", "podManagementPolicy", "progressDeadlineSeconds", "replicas", "revisionHistoryLimit", "strategy", "updateStrategy"),
		fields{"template": podTemplate},
	)})

	kafkaNodes = object(
		free("config", "jvmOptions", "livenessProbe", "metadataVersion", "readinessProbe", "replicas", "resources", "version"),
		fields{"logging": named, "metricsConfig": named, "rack": object(free("topologyKey"))},
	)

	storage = object(free("resizeInUseVolumes", "size", "storageClass"))
)

// shapes are those of the kinds that can be patched. Labels and annotations of
// Strimzi's and CloudNativePG's objects are not in them: both operators take
// orders by annotations, whole patches of pods among them.
var shapes = map[v1alpha1.PatchKind]shape{
	"Deployment":    workload,
	"StatefulSet":   workload,
	"Kafka":         object(fields{"spec": object(free("maintenanceTimeWindows"), fields{"kafka": kafkaNodes, "zookeeper": kafkaNodes})}),
	"KafkaNodePool": object(fields{"spec": object(free("jvmOptions", "replicas", "resources"))}),
	"Cluster": object(fields{"spec": object(
		free("affinity", "description", "enablePDB", "failoverDelay", "instances", "livenessProbeTimeout", "logLevel", "maxStopDelay",
			"maxSyncReplicas", "minSyncReplicas", "primaryUpdateMethod", "primaryUpdateStrategy", "probes", "replicationSlots", "resources",
			"smartShutdownTimeout", "startDelay", "stopDelay", "switchoverDelay", "topologySpreadConstraints"),
		fields{
			"imageName": image, "imagePullSecrets": named, "superuserSecret": named, "storage": storage, "walStorage": storage,
			"postgresql": object(free("parameters", "pg_hba", "pg_ident", "promotionTimeout", "shared_preload_libraries", "syncReplicaElectionConstraint", "synchronous")),
		},
	)}),
	"Pooler": object(fields{"spec": object(
		free("deploymentStrategy", "instances", "type"),
		fields{
			"pgbouncer": object(free("parameters", "paused", "pg_hba", "poolMode", "resources"), fields{"image": image}),
			"template":  podTemplate,
		},
	)}),
}
