// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/test/emulators/strimzi/api"
)

const (
	mebibyte = 1 << 20

	// By default, Strimzi sizes the heap as half the memory limit, 5 GiB at most.
	dynamicHeapPercent = 50
	dynamicHeapMax     = 5 << 30

	// Without a limit, a small heap lets several clusters share a test machine.
	defaultHeap = "-Xms256m -Xmx256m"
)

// jvmEnv returns the environment of kafka_run.sh, which starts the JVM. A pool's
// jvmOptions replace those of the Kafka.
func jvmEnv(kafka *api.Kafka, pool *api.KafkaNodePool) []corev1.EnvVar {
	options := &api.JvmOptions{}
	if kafka.Spec.Kafka.JvmOptions != nil {
		options = kafka.Spec.Kafka.JvmOptions
	}
	if pool.Spec.JvmOptions != nil {
		options = pool.Spec.JvmOptions
	}
	all := []corev1.EnvVar{
		{Name: "KAFKA_JMX_EXPORTER_ENABLED", Value: "false"},
		{Name: "STRIMZI_KAFKA_GC_LOG_ENABLED", Value: fmt.Sprint(options.GcLoggingEnabled)},
		{Name: "KAFKA_CLUSTER_NAME", Value: kafka.Name},
		{Name: "KAFKA_HEAP_OPTS", Value: heap(options, poolResources(kafka, pool))},
		{Name: "KAFKA_JVM_PERFORMANCE_OPTS", Value: performanceOptions(options.XX)},
		{Name: "STRIMZI_JAVA_SYSTEM_PROPERTIES", Value: systemProperties(options.JavaSystemProperties)},
	}
	return slices.DeleteFunc(all, func(one corev1.EnvVar) bool { return one.Value == "" })
}

// poolResources returns a pool's own resources, or those of the Kafka if it has none.
func poolResources(kafka *api.Kafka, pool *api.KafkaNodePool) corev1.ResourceRequirements {
	own := pool.Spec.Resources
	if len(own.Limits)+len(own.Requests) > 0 || slices.Contains(pool.Spec.Roles, roleZooKeeper) {
		return own
	}
	return kafka.Spec.Kafka.Resources
}

func heap(options *api.JvmOptions, resources corev1.ResourceRequirements) string {
	var parts []string
	if options.Xms != "" {
		parts = append(parts, "-Xms"+options.Xms)
	}
	if options.Xmx != "" {
		return strings.Join(append(parts, "-Xmx"+options.Xmx), " ")
	}
	limit, limited := resources.Limits[corev1.ResourceMemory]
	if !limited {
		if len(parts) == 0 {
			return defaultHeap
		}
		return strings.Join(parts, " ")
	}
	size := min(limit.Value()*dynamicHeapPercent/100, dynamicHeapMax)
	return strings.Join(append(parts, fmt.Sprintf("-Xmx%dm", size/mebibyte)), " ")
}

// performanceOptions renders the -XX options in key order: booleans as a sign, others as
// name=value.
func performanceOptions(xx map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(xx)) {
		switch xx[name] {
		case "true":
			parts = append(parts, "-XX:+"+name)
		case "false":
			parts = append(parts, "-XX:-"+name)
		default:
			parts = append(parts, "-XX:"+name+"="+xx[name])
		}
	}
	return strings.Join(parts, " ")
}

func systemProperties(all []api.SystemProperty) string {
	var parts []string
	for _, property := range all {
		parts = append(parts, fmt.Sprintf("-D%s=%s", property.Name, property.Value))
	}
	return strings.Join(parts, " ")
}
