// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"perflab.dev/perflab/test/emulators/strimzi/api"
)

// annotationRevision carries the hash of all a Pod was made from. A Pod with
// another revision than the wanted one has to be restarted.
const annotationRevision = "strimzi.io/revision"

const (
	configVolume = "kafka-metrics-and-logging"
	tmpVolume    = "strimzi-tmp"
	configPath   = "/opt/kafka/custom-config"
)

// logging is the same as Strimzi's default: everything of level INFO to the
// console. Kafka 3 and ZooKeeper read the first version of this language.
const logging = `status = error
appender.stdout.type = Console
appender.stdout.name = STDOUT
appender.stdout.layout.type = PatternLayout
appender.stdout.layout.pattern = %d{yyyy-MM-dd HH:mm:ss} %-5p [%t] %c{1}:%L - %m%n
rootLogger.level = INFO
rootLogger.appenderRef.stdout.ref = STDOUT
`

const loggingBeforeKafka4 = `log4j.rootLogger=INFO, CONSOLE
log4j.appender.CONSOLE=org.apache.log4j.ConsoleAppender
log4j.appender.CONSOLE.layout=org.apache.log4j.PatternLayout
log4j.appender.CONSOLE.layout.ConversionPattern=%d{yyyy-MM-dd HH:mm:ss} %-5p [%t] %c{1}:%L - %m%n
`

// member is a node made concrete: what has to exist for it.
type member struct {
	node
	config *corev1.ConfigMap
	claims []claim
	pod    *corev1.Pod
}

// membersOf builds all nodes of one component of a cluster.
func (g Generation) membersOf(kafka *api.Kafka, nodes []node) ([]member, error) {
	var members []member
	for _, n := range nodes {
		config, err := g.nodeConfig(kafka, nodes, n)
		if err != nil {
			return nil, err
		}
		claims, err := claimsOf(kafka, n)
		if err != nil {
			return nil, err
		}
		pod, err := nodePod(kafka, n, g.Image)
		if err != nil {
			return nil, err
		}
		if pod.Annotations[annotationRevision], err = revision(pod, config); err != nil {
			return nil, err
		}
		members = append(members, member{n, config, claims, pod})
	}
	return members, nil
}

func (g Generation) nodeConfig(kafka *api.Kafka, nodes []node, n node) (*corev1.ConfigMap, error) {
	data, err := g.files(kafka, nodes, n)
	if err != nil {
		return nil, invalidSpec{"InvalidResourceException", err.Error()}
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: kafka.Namespace,
			Name:      n.podName(),
			Labels:    nodeLabels(kafka.Name, n),
		},
		Data: data,
	}, nil
}

// files are what the programs of a node read.
func (g Generation) files(kafka *api.Kafka, nodes []node, n node) (map[string]string, error) {
	data := map[string]string{"log4j2.properties": logging}
	if g.ZooKeeper {
		data = map[string]string{"log4j.properties": loggingBeforeKafka4}
	}
	if n.isZooKeeper() {
		text, err := zooKeeperSettings(kafka, nodes, n)
		data["zoo.cfg"], data["myid"] = text, fmt.Sprint(n.ID+1)
		return data, err
	}
	text, err := settings(kafka, nodes, n)
	data["server.config"] = text
	if n.ZooKeeper == "" {
		data["cluster.id"], data["metadata.version"] = clusterID(kafka), g.metadataVersion(kafka)
	}
	return data, err
}

func nodePod(kafka *api.Kafka, n node, image string) (*corev1.Pod, error) {
	image = cmp.Or(imageAsked(kafka, n), image)
	volumes := []corev1.Volume{
		{Name: tmpVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: configVolume, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: n.podName()},
		}}},
	}
	mounts := []corev1.VolumeMount{
		{Name: tmpVolume, MountPath: "/tmp"},
		{Name: configVolume, MountPath: configPath},
	}
	for _, d := range disksOf(n.Pool) {
		volume, err := d.volume(n.podName())
		if err != nil {
			return nil, err
		}
		volumes = append(volumes, volume)
		mounts = append(mounts, d.mount())
	}
	template := n.Pool.Spec.Template.Pod
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   kafka.Namespace,
			Name:        n.podName(),
			Labels:      merged(nodeLabels(kafka.Name, n), template.Metadata.Labels),
			Annotations: merged(nil, template.Metadata.Annotations),
		},
		Spec: corev1.PodSpec{
			Hostname:                      n.podName(),
			Subdomain:                     nodesServiceName(kafka.Name, n.component()),
			AutomountServiceAccountToken:  new(false),
			EnableServiceLinks:            new(false),
			Affinity:                      template.Affinity,
			Tolerations:                   template.Tolerations,
			TopologySpreadConstraints:     template.TopologySpreadConstraints,
			ImagePullSecrets:              template.ImagePullSecrets,
			PriorityClassName:             template.PriorityClassName,
			SchedulerName:                 template.SchedulerName,
			SecurityContext:               podSecurity(template.SecurityContext),
			TerminationGracePeriodSeconds: template.TerminationGracePeriodSeconds,
			Volumes:                       volumes,
			Containers: []corev1.Container{{
				Name:            n.component(),
				Image:           image,
				ImagePullPolicy: corev1.PullIfNotPresent,
				Command:         []string{"/opt/kafka/" + n.component() + "_run.sh"},
				Env:             append(jvmEnv(kafka, n.Pool), n.Pool.Spec.Template.KafkaContainer.Env...),
				Ports:           containerPorts(kafka, n),
				Resources:       resourcesOf(kafka, n.Pool),
				VolumeMounts:    mounts,
				ReadinessProbe:  readiness(n),
				SecurityContext: containerSecurity(),
			}},
		},
	}, nil
}

func imageAsked(kafka *api.Kafka, n node) string {
	if n.isZooKeeper() {
		return kafka.Spec.Zookeeper.Image
	}
	return kafka.Spec.Kafka.Image
}

// podSecurity lets the Pod run under the restricted standard, as Strimzi does
// when its restricted security provider is chosen.
func podSecurity(asked *corev1.PodSecurityContext) *corev1.PodSecurityContext {
	if asked != nil {
		return asked
	}
	return &corev1.PodSecurityContext{
		RunAsNonRoot:   new(true),
		FSGroup:        new(int64(0)),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

func containerSecurity() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

func containerPorts(kafka *api.Kafka, n node) []corev1.ContainerPort {
	if n.isZooKeeper() {
		return []corev1.ContainerPort{
			containerPort("tcp-clustering", portZooKeeperClustering),
			containerPort("tcp-election", portZooKeeperElection),
			containerPort("tcp-clients", portZooKeeper),
		}
	}
	var ports []corev1.ContainerPort
	if n.hasControlPlane() {
		ports = append(ports, containerPort("tcp-ctrlplane", portControlPlane))
	}
	if !n.isBroker() {
		return ports
	}
	ports = append(ports, containerPort("tcp-replication", portReplication))
	for _, p := range clientPorts(kafka) {
		ports = append(ports, containerPort(p.Name, p.Port))
	}
	return ports
}

func containerPort(name string, port int32) corev1.ContainerPort {
	return corev1.ContainerPort{Name: name, ContainerPort: port, Protocol: corev1.ProtocolTCP}
}

// readiness asks for the last socket a node opens. Whether the brokers really
// serve is asked of Kafka itself before the cluster counts as ready.
func readiness(n node) *corev1.Probe {
	if n.isZooKeeper() {
		return zooKeeperReadiness()
	}
	port := int32(portControlPlane)
	if n.isBroker() {
		port = portReplication
	}
	return &corev1.Probe{
		ProbeHandler:        corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(port)}},
		InitialDelaySeconds: 2,
		PeriodSeconds:       1,
		FailureThreshold:    3,
	}
}

func revision(pod *corev1.Pod, config *corev1.ConfigMap) (string, error) {
	text, err := json.Marshal([]any{pod.Labels, pod.Annotations, pod.Spec, config.Data})
	if err != nil {
		return "", fmt.Errorf("hashing Pod %q: %w", pod.Name, err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4]), nil
}
