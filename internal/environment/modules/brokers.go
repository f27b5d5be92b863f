// SPDX-License-Identifier: Apache-2.0

package modules

import (
	"fmt"
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/podspec"
)

// Mount of the brokers' CA certificate.
const (
	trustVolume = "kafka-ca"
	trustPath   = "/etc/perflab/kafka"
	trustFile   = "ca.pem"
)

// kafkaEnv returns the variables for the brokers' address, the login and the topics.
func kafkaEnv(req environment.Request, env string) []corev1.EnvVar {
	kafka := req.System.Kafka
	if kafka == nil {
		return nil
	}
	host, port := bootstrap(req)
	return append([]corev1.EnvVar{
		{Name: "KAFKA_HOST", Value: host},
		{Name: "KAFKA_PORT", Value: port},
		{Name: "ENV", Value: env},
		{Name: "REPLICATION_FACTOR", Value: strconv.Itoa(int(replicationFactor(kafka)))},
	}, loginEnv(kafka.External)...)
}

// bootstrap returns the bootstrap broker of the modules.
func bootstrap(req environment.Request) (host, port string) {
	external := req.System.Kafka.External
	if external == nil || len(external.BootstrapServers) == 0 {
		return contract.KafkaBootstrapService(req.KafkaName()), strconv.Itoa(contract.KafkaPort)
	}
	// Lists keep their order.
	host, port, err := net.SplitHostPort(external.BootstrapServers[0])
	if err != nil {
		// Admission accepts only host:port.
		return external.BootstrapServers[0], strconv.Itoa(contract.KafkaPort)
	}
	return host, port
}

// loginEnv sets the variables of both families of FOLIO modules: those on
// folio-kafka-wrapper read variables with the names of Kafka's properties; those on Spring
// read KAFKA_SECURITY_PROTOCOL and Spring's properties of the client. The password stays in
// its Secret, as a reference.
func loginEnv(external *v1alpha1.ExternalKafka) []corev1.EnvVar {
	protocol := securityProtocol(external)
	if protocol == "" {
		return nil
	}
	variables := []corev1.EnvVar{
		{Name: "KAFKA_SECURITY_PROTOCOL", Value: protocol},
		{Name: "SPRING_KAFKA_SECURITY_PROTOCOL", Value: protocol},
		{Name: "security.protocol", Value: protocol},
	}
	sasl := external.SASL
	if sasl == nil {
		return variables
	}
	mechanism, jaas := string(sasl.MechanismOrDefault()), loginModule(sasl)
	variables = append(variables, podspec.LoginEnv("KAFKA_USERNAME", "KAFKA_PASSWORD", sasl.CredentialsSecret.Name)...)
	return append(
		variables,
		corev1.EnvVar{Name: "KAFKA_SASL_MECHANISM", Value: mechanism},
		corev1.EnvVar{Name: "SPRING_KAFKA_PROPERTIES_SASL_MECHANISM", Value: mechanism},
		corev1.EnvVar{Name: "SPRING_KAFKA_PROPERTIES_SASL_JAAS_CONFIG", Value: jaas},
		corev1.EnvVar{Name: "sasl.mechanism", Value: mechanism},
		corev1.EnvVar{Name: "sasl.jaas.config", Value: jaas},
	)
}

// securityProtocol returns Kafka's security.protocol; empty for plain text without a login,
// which is the default.
func securityProtocol(external *v1alpha1.ExternalKafka) string {
	switch {
	case external == nil || external.TLS == nil && external.SASL == nil:
		return ""
	case external.SASL == nil:
		return "SSL"
	case external.TLS == nil:
		return "SASL_PLAINTEXT"
	default:
		return "SASL_SSL"
	}
}

func loginModule(sasl *v1alpha1.KafkaSASL) string {
	class := "org.apache.kafka.common.security.scram.ScramLoginModule"
	if sasl.Mechanism == v1alpha1.SASLPlain {
		class = "org.apache.kafka.common.security.plain.PlainLoginModule"
	}
	return fmt.Sprintf(`%s required username="$(KAFKA_USERNAME)" password="$(KAFKA_PASSWORD)";`, class)
}

// trust returns the CA certificate for the brokers; nil if the image's CAs suffice.
func trust(req environment.Request) *v1alpha1.SecretKey {
	kafka := req.System.Kafka
	if kafka == nil || kafka.External == nil || kafka.External.TLS == nil {
		return nil
	}
	return kafka.External.TLS.CA
}

// trustEnv returns the variables with the certificate's path.
func trustEnv(req environment.Request) []corev1.EnvVar {
	if trust(req) == nil {
		return nil
	}
	const kind, file = "PEM", trustPath + "/" + trustFile
	return []corev1.EnvVar{
		{Name: "KAFKA_SSL_TRUSTSTORE_TYPE", Value: kind},
		{Name: "KAFKA_SSL_TRUSTSTORE_LOCATION", Value: file},
		{Name: "SPRING_KAFKA_SSL_TRUST_STORE_TYPE", Value: kind},
		{Name: "SPRING_KAFKA_SSL_TRUST_STORE_LOCATION", Value: "file:" + file},
		{Name: "ssl.truststore.type", Value: kind},
		{Name: "ssl.truststore.location", Value: file},
	}
}

// mountTrust mounts the certificate at that path.
func mountTrust(req environment.Request, pod *corev1.PodSpec) {
	ca := trust(req)
	if ca == nil {
		return
	}
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: trustVolume, VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: ca.Name, Items: []corev1.KeyToPath{{Key: ca.Key, Path: trustFile}}},
	}})
	container := &pod.Containers[0]
	container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: trustVolume, MountPath: trustPath, ReadOnly: true})
}

// replicationFactor returns the replication factor for topics that modules create
// themselves: that of the declared topics.
func replicationFactor(kafka *v1alpha1.Kafka) int32 {
	factor := int32(1)
	for _, group := range kafka.Topics {
		factor = max(factor, group.Replicas)
	}
	if kafka.External != nil {
		return factor
	}
	return min(factor, max(1, kafka.Brokers.Replicas))
}
