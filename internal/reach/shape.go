// SPDX-License-Identifier: Apache-2.0

package reach

import "perflab.dev/perflab/api/v1alpha1"

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
	// fields are looked into one by one.
	fields map[string]shape
}

// free are fields that reach for nothing.
func free(names ...string) map[string]shape {
	fields := map[string]shape{}
	for _, name := range names {
		fields[name] = shape{free: true}
	}
	return fields
}

// with adds fields to those of another.
func with(fields map[string]shape, name string, added shape) map[string]shape {
	fields[name] = added
	return fields
}

func object(fields map[string]shape) shape { return shape{fields: fields} }

var (
	named = shape{names: true}

	// source is a volume that holds what is named, or nothing.
	source = map[string]shape{"configMap": named, "secret": named, "downwardAPI": {free: true}}

	volumes = object(map[string]shape{
		"name": {free: true}, "emptyDir": {free: true}, "configMap": named, "secret": named, "downwardAPI": {free: true},
		"projected": object(map[string]shape{"defaultMode": {free: true}, "sources": object(source)}),
	})

	// podTemplate leaves out metadata, by which Services of others select pods and
	// by which clouds and meshes tell who a pod is, and containers, whose list a
	// patch replaces with their securityContext.
	podTemplate = object(map[string]shape{"spec": object(with(with(free(
		"affinity", "dnsConfig", "dnsPolicy", "enableServiceLinks", "hostAliases", "hostname", "nodeSelector", "subdomain",
		"terminationGracePeriodSeconds", "tolerations", "topologySpreadConstraints",
	), "imagePullSecrets", named), "volumes", volumes))})

	workload = object(map[string]shape{
		"metadata": {free: true},
		"spec": object(with(free("minReadySeconds", "paused", "podManagementPolicy", "progressDeadlineSeconds", "replicas",
			"revisionHistoryLimit", "strategy", "updateStrategy"), "template", podTemplate)),
	})

	kafkaNodes = object(with(with(with(free("config", "jvmOptions", "livenessProbe", "metadataVersion", "readinessProbe", "replicas", "resources", "version"),
		"logging", named), "metricsConfig", named), "rack", object(free("topologyKey"))))

	storage = object(free("resizeInUseVolumes", "size", "storageClass"))
)

// shapes are those of the kinds that can be patched. Labels and annotations of
// Strimzi's and CloudNativePG's objects are not in them: both operators take
// orders by annotations, whole patches of pods among them.
var shapes = map[v1alpha1.PatchKind]shape{
	"Deployment":  workload,
	"StatefulSet": workload,
	"Kafka": object(map[string]shape{"spec": object(map[string]shape{
		"kafka": kafkaNodes, "zookeeper": kafkaNodes, "maintenanceTimeWindows": {free: true},
	})}),
	"KafkaNodePool": object(map[string]shape{"spec": object(free("jvmOptions", "replicas", "resources"))}),
	"Cluster": object(map[string]shape{"spec": object(with(with(with(with(with(free(
		"affinity", "description", "enablePDB", "failoverDelay", "imageName", "instances", "livenessProbeTimeout", "logLevel", "maxStopDelay", "maxSyncReplicas",
		"minSyncReplicas", "primaryUpdateMethod", "primaryUpdateStrategy", "probes", "replicationSlots", "resources", "smartShutdownTimeout", "startDelay",
		"stopDelay", "switchoverDelay", "topologySpreadConstraints",
	), "imagePullSecrets", named), "superuserSecret", named), "storage", storage), "walStorage", storage),
		"postgresql", object(free("parameters", "pg_hba", "pg_ident", "promotionTimeout", "shared_preload_libraries", "syncReplicaElectionConstraint", "synchronous"))))}),
	"Pooler": object(map[string]shape{"spec": object(with(with(free("deploymentStrategy", "instances", "type"),
		"pgbouncer", object(free("image", "parameters", "paused", "pg_hba", "poolMode", "resources"))),
		"template", podTemplate))}),
}
