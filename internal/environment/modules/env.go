// SPDX-License-Identifier: Apache-2.0

package modules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
)

// kafkaPort is where the brokers take clients without TLS.
const kafkaPort = 9092

// defaultTenant is the tenant of the API's default.
const defaultTenant = "diku"

// variableTenant and the like are PerfLab's own; the others are those FOLIO
// modules read.
const (
	variableTenant = "TENANT"
	variableRun    = "PERFLAB_RUN"
)

// environmentOf is the environment of a module's container. What the module
// declares wins over what we set and comes last, so that it may refer to ours.
func environmentOf(req environment.Request, env string, module v1alpha1.Module) []corev1.EnvVar {
	ours := slices.Concat(
		databaseEnv(req, module),
		kafkaEnv(req, env),
		addressEnv(req),
		jvmEnv(module.JVM),
		runEnv(req),
	)
	ours = slices.DeleteFunc(ours, func(variable corev1.EnvVar) bool {
		return slices.ContainsFunc(module.Env, func(v corev1.EnvVar) bool { return v.Name == variable.Name })
	})
	for _, variable := range module.Env {
		ours = append(ours, *variable.DeepCopy())
	}
	return ours
}

func databaseEnv(req environment.Request, module v1alpha1.Module) []corev1.EnvVar {
	postgres := req.System.Postgres
	if postgres == nil {
		return nil
	}
	cluster := req.PostgresName()
	secret := contract.PostgresSecret(cluster)
	port := strconv.Itoa(contract.PostgresPort)
	variables := []corev1.EnvVar{
		{Name: "DB_HOST", Value: contract.PostgresWriterService(cluster)},
		{Name: "DB_PORT", Value: port},
		fromSecret("DB_DATABASE", secret, contract.PostgresSecretDatabase),
		fromSecret("DB_USERNAME", secret, contract.PostgresSecretUsername),
		fromSecret("DB_PASSWORD", secret, contract.PostgresSecretPassword),
	}
	if !readsFromReplicas(postgres, module) {
		return variables
	}
	// Modules use the replicas only when both are set.
	return append(variables,
		corev1.EnvVar{Name: "DB_HOST_READER", Value: contract.PostgresReaderService(cluster)},
		corev1.EnvVar{Name: "DB_PORT_READER", Value: port},
	)
}

func readsFromReplicas(postgres *v1alpha1.Postgres, module v1alpha1.Module) bool {
	split := postgres.ReadWriteSplit
	return split != nil && split.Enabled && !slices.Contains(split.Exclude, module.Name)
}

func fromSecret(name, secret, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{
		SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: secret},
			Key:                  key,
		},
	}}
}

func kafkaEnv(req environment.Request, env string) []corev1.EnvVar {
	kafka := req.System.Kafka
	if kafka == nil {
		return nil
	}
	return []corev1.EnvVar{
		{Name: "KAFKA_HOST", Value: contract.KafkaBootstrapService(req.KafkaName())},
		{Name: "KAFKA_PORT", Value: strconv.Itoa(kafkaPort)},
		{Name: "ENV", Value: env},
		{Name: "REPLICATION_FACTOR", Value: strconv.Itoa(int(replicationFactor(kafka)))},
	}
}

// replicationFactor is that of the topics a module may still make by itself:
// as many copies as the declared topics have, which the brokers can hold.
func replicationFactor(kafka *v1alpha1.Kafka) int32 {
	factor := int32(1)
	for _, group := range kafka.Topics {
		factor = max(factor, group.Replicas)
	}
	return min(factor, max(1, kafka.Brokers.Replicas))
}

// addressEnv tells a module where the others are, and where requests that go
// through the gateway start.
func addressEnv(req environment.Request) []corev1.EnvVar {
	tenant := req.System.Target.Tenant
	if tenant == "" {
		tenant = defaultTenant
	}
	variables := []corev1.EnvVar{
		{Name: variableTenant, Value: tenant},
		{Name: "OKAPI_URL", Value: targetURL(req)},
	}
	for _, module := range req.System.Modules {
		name := strings.ToUpper(strings.ReplaceAll(module.Name, "-", "_")) + "_URL"
		variables = append(variables, corev1.EnvVar{Name: name, Value: url(req, module)})
	}
	return variables
}

// targetURL is the address the load goes to and the modules' OKAPI_URL: that
// of the target module, or the one declared for a target outside the system.
func targetURL(req environment.Request) string {
	target := req.System.Target
	for _, module := range req.System.Modules {
		if module.Name == target.Module {
			return url(req, module)
		}
	}
	return target.URL
}

func url(req environment.Request, module v1alpha1.Module) string {
	name, port := environment.ModuleService(req.Experiment, module)
	return fmt.Sprintf("http://%s:%d", name, port)
}

// runEnv tells a module the run's name where modules are to start afresh: each
// run then has another pod template, and a module that finds another name than
// the one it remembers restores its data.
func runEnv(req environment.Request) []corev1.EnvVar {
	if req.Reset != v1alpha1.ResetRestartModules {
		return nil
	}
	return []corev1.EnvVar{{Name: variableRun, Value: req.Run}}
}

func jvmEnv(jvm *v1alpha1.JVM) []corev1.EnvVar {
	options := javaOptions(jvm)
	if len(options) == 0 {
		return nil
	}
	return []corev1.EnvVar{{Name: "JAVA_OPTIONS", Value: strings.Join(options, " ")}}
}

// javaOptions are the flags of a JVM. Size and percentage never meet: with
// both, the JVM ignores the percentage.
func javaOptions(jvm *v1alpha1.JVM) []string {
	if jvm == nil {
		return nil
	}
	var options []string
	if heap := jvm.Heap; heap != nil {
		switch {
		case heap.Max != nil:
			options = append(options, "-Xmx"+javaSize(*heap.Max))
		case heap.MaxRAMPercentage != "":
			options = append(options, "-XX:MaxRAMPercentage="+percentage(heap.MaxRAMPercentage))
		}
	}
	if metaspace := jvm.Metaspace; metaspace != nil {
		if metaspace.Initial != nil {
			options = append(options, "-XX:MetaspaceSize="+javaSize(*metaspace.Initial))
		}
		if metaspace.Max != nil {
			options = append(options, "-XX:MaxMetaspaceSize="+javaSize(*metaspace.Max))
		}
	}
	return append(options, jvm.Options...)
}

// percentage writes a share as JVMs of every age take it: with a fraction.
func percentage(share string) string {
	if strings.Contains(share, ".") {
		return share
	}
	return share + ".0"
}

// javaSize writes a size exactly: in MiB where it is a whole number of them,
// else in bytes.
func javaSize(size resource.Quantity) string {
	const mebibyte = 1 << 20
	bytes := size.Value()
	if bytes%mebibyte == 0 {
		return strconv.FormatInt(bytes/mebibyte, 10) + "m"
	}
	return strconv.FormatInt(bytes, 10)
}
