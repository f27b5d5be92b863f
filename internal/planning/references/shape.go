// SPDX-License-Identifier: Apache-2.0

package references

import (
	"maps"

	"perflab.dev/perflab/api/v1alpha1"
)

// shape describes the fields of an object that every author may patch. Other fields may
// affect the security, the volumes or the identity of pods, so new fields of Kubernetes or
// an operator need a permission until they are listed here.
//
// A shape with fields holds for every entry of a list.
type shape struct {
	// free: nothing below it refers outside the object.
	free bool
	// names: it needs only the permissions for the names below it.
	names bool
	// image: the image runs as CloudNativePG's ServiceAccount.
	image bool
	// fields are checked one by one.
	fields fields
}

// fields are the fields of an object, by name.
type fields map[string]shape

// free returns fields without references.
func free(names ...string) fields {
	all := fields{}
	for _, name := range names {
		all[name] = shape{free: true}
	}
	return all
}

// object combines fields.
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

	// source is a volume with named or no external content.
	source = fields{"configMap": named, "secret": named, "downwardAPI": {free: true}}

	volumes = object(free("name", "emptyDir"), source, fields{
		"projected": object(free("defaultMode"), fields{"sources": object(source)}),
	})

	// podTemplate excludes metadata, which Services use to select pods and clouds and
	// meshes to identify them, and containers, because a patch replaces the whole list with
	// its securityContext.
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

// shapes are the shapes of the kinds that can be patched. They exclude labels and
// annotations of Strimzi's and CloudNativePG's objects, because both operators execute
// annotations, including patches of pods.
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
