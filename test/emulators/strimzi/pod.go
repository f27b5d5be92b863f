// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/test/emulators/strimzi/api"
)

// annotationRevision has the hash of everything that a Pod is built from. A Pod with an
// outdated revision must be restarted.
const annotationRevision = "strimzi.io/revision"

const (
	configVolume = "kafka-metrics-and-logging"
	tmpVolume    = "strimzi-tmp"
	readyVolume  = "ready-files"
	configPath   = "/opt/kafka/custom-config/"

	tokenVolumeName = "kube-api-access"
	tokenPath       = "/var/run/secrets/kubernetes.io/serviceaccount"
)

// logging is Strimzi's default: level INFO to the console. Kafka 3 and ZooKeeper use the format
// of Log4j 1.
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

// member is a node with the objects to create for it.
type member struct {
	node
	config *corev1.ConfigMap
	claims []claim
	pod    *corev1.Pod
}

// newMembers builds all nodes of one component of a cluster.
func (g Generation) newMembers(kafka *api.Kafka, nodes []node) ([]member, error) {
	var members []member
	for _, n := range nodes {
		config, err := g.nodeConfig(kafka, nodes, n)
		if err != nil {
			return nil, err
		}
		claims, err := newClaims(kafka, n)
		if err != nil {
			return nil, err
		}
		pod, err := g.nodePod(kafka, n)
		if err != nil {
			return nil, err
		}
		if err := g.annotate(pod, config); err != nil {
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
			Labels:    merged(configLabels(kafka.Name, n), inheritedLabels(kafka.Labels)),
		},
		Data: data,
	}, nil
}

// files returns the configuration files of a node's programs.
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

func (g Generation) nodePod(kafka *api.Kafka, n node) (*corev1.Pod, error) {
	disks, mounts, err := g.nodeVolumes(n)
	if err != nil {
		return nil, err
	}
	template := nodeTemplate(kafka, n.Pool)
	container := g.nodeContainer(kafka, n, template.KafkaContainer)
	container.VolumeMounts = mounts
	pod := template.Pod
	made := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   kafka.Namespace,
			Name:        n.podName(),
			Labels:      merged(podLabels(kafka.Name, n), pod.Metadata.Labels),
			Annotations: merged(nil, pod.Metadata.Annotations),
		},
		Spec: corev1.PodSpec{
			Hostname:                      n.podName(),
			Subdomain:                     nodesServiceName(kafka.Name, n.component()),
			ServiceAccountName:            componentName(kafka.Name, n.component()),
			EnableServiceLinks:            pod.EnableServiceLinks,
			Affinity:                      pod.Affinity,
			Tolerations:                   pod.Tolerations,
			TopologySpreadConstraints:     pod.TopologySpreadConstraints,
			ImagePullSecrets:              pod.ImagePullSecrets,
			PriorityClassName:             pod.PriorityClassName,
			SchedulerName:                 cmp.Or(pod.SchedulerName, corev1.DefaultSchedulerName),
			SecurityContext:               podSecurity(pod.SecurityContext, n.Pool),
			RestartPolicy:                 corev1.RestartPolicyAlways,
			TerminationGracePeriodSeconds: new(int64(30)),
			Volumes:                       disks,
			Containers:                    []corev1.Container{container},
		},
	}
	if pod.TerminationGracePeriodSeconds != nil {
		made.Spec.TerminationGracePeriodSeconds = pod.TerminationGracePeriodSeconds
	}
	if g.projectsToken() {
		made.Spec.AutomountServiceAccountToken = new(false)
	}
	return made, nil
}

// nodeTemplate returns the template of the pool, or that of the Kafka if the pool has none. As
// in Strimzi, the two are not merged.
func nodeTemplate(kafka *api.Kafka, pool *api.KafkaNodePool) api.NodeTemplate {
	if pool.Spec.Template != nil {
		return *pool.Spec.Template
	}
	return kafka.Spec.Kafka.Template
}

func (g Generation) nodeContainer(kafka *api.Kafka, n node, template api.ContainerTemplate) corev1.Container {
	liveness, readiness := probes(n)
	container := corev1.Container{
		Name:            n.component(),
		Image:           cmp.Or(nodeImage(kafka, n), g.Image),
		ImagePullPolicy: corev1.PullIfNotPresent,
		Args:            []string{"/opt/kafka/" + n.component() + "_run.sh"},
		Env:             append(jvmEnv(kafka, n.Pool), template.Env...),
		Ports:           g.containerPorts(kafka, n),
		Resources:       poolResources(kafka, n.Pool),
		LivenessProbe:   liveness,
		ReadinessProbe:  readiness,
		SecurityContext: template.SecurityContext,
	}
	if container.SecurityContext == nil {
		container.SecurityContext = &corev1.SecurityContext{}
	}
	if g.Linger > 0 {
		container.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{
			Sleep: &corev1.SleepAction{Seconds: int64(math.Ceil(g.Linger.Seconds()))},
		}}
	}
	return container
}

// nodeVolumes returns the disks of a node and the volumes that all nodes have. Those for temporary
// files are in memory, and count as memory of the Pod.
func (g Generation) nodeVolumes(n node) ([]corev1.Volume, []corev1.VolumeMount, error) {
	var volumes []corev1.Volume
	var mounts []corev1.VolumeMount
	for _, d := range poolDisks(n.Pool) {
		volume, err := d.volume(n.podName())
		if err != nil {
			return nil, nil, err
		}
		volumes = append(volumes, volume)
		mounts = append(mounts, d.mount())
	}
	if g.projectsToken() {
		volumes = append(volumes, tokenVolume())
		mounts = append(mounts, corev1.VolumeMount{Name: tokenVolumeName, MountPath: tokenPath, ReadOnly: true})
	}
	volumes = append(volumes, memoryVolume(tmpVolume, "5Mi"), corev1.Volume{Name: configVolume, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: n.podName()},
	}}})
	mounts = append(mounts, corev1.VolumeMount{Name: tmpVolume, MountPath: "/tmp"}, corev1.VolumeMount{Name: configVolume, MountPath: configPath})
	if n.isKafka() {
		volumes = append(volumes, memoryVolume(readyVolume, "1Ki"))
		mounts = append(mounts, corev1.VolumeMount{Name: readyVolume, MountPath: "/var/opt/kafka"})
	}
	return volumes, mounts, nil
}

func memoryVolume(name, size string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
		Medium: corev1.StorageMediumMemory, SizeLimit: new(resource.MustParse(size)),
	}}}
}

// projectsToken reports whether the Pods mount the token of their ServiceAccount from a
// projected volume. In earlier releases, Kubernetes mounts it.
func (g Generation) projectsToken() bool { return !g.ZooKeeper }

func tokenVolume() corev1.Volume {
	return corev1.Volume{Name: tokenVolumeName, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: new(int64(3600))}},
			{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
				Items:                []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
			}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{
				Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"},
			}}}},
		},
	}}}
}

func nodeImage(kafka *api.Kafka, n node) string {
	if n.isZooKeeper() {
		return kafka.Spec.Zookeeper.Image
	}
	return kafka.Spec.Kafka.Image
}

// podSecurity returns the specified context. If none is specified, a persistent disk gets an
// fsGroup that can write to it.
func podSecurity(declared *corev1.PodSecurityContext, pool *api.KafkaNodePool) *corev1.PodSecurityContext {
	if declared != nil {
		return declared
	}
	if usesClaims(pool) {
		return &corev1.PodSecurityContext{FSGroup: new(int64(0))}
	}
	return &corev1.PodSecurityContext{}
}

// containerPorts are listed with the agent's port first since Strimzi 1.
func (g Generation) containerPorts(kafka *api.Kafka, n node) []corev1.ContainerPort {
	if n.isZooKeeper() {
		return []corev1.ContainerPort{
			containerPort("tcp-clustering", portZooKeeperClustering),
			containerPort("tcp-election", portZooKeeperElection),
			containerPort("tcp-clients", portZooKeeper),
		}
	}
	agent := containerPort("tcp-kafkaagent", portAgent)
	var ports []corev1.ContainerPort
	if !g.ZooKeeper {
		ports = append(ports, agent)
	}
	if n.hasControlPlane() {
		ports = append(ports, containerPort("tcp-ctrlplane", portControlPlane))
	}
	if n.isBroker() {
		ports = append(ports, containerPort("tcp-replication", portReplication))
	}
	if g.ZooKeeper {
		ports = append(ports, agent)
	}
	if !n.isBroker() {
		return ports
	}
	for _, p := range clientPorts(kafka) {
		ports = append(ports, containerPort(p.Name, p.Port))
	}
	return ports
}

func containerPort(name string, port int32) corev1.ContainerPort {
	return corev1.ContainerPort{Name: name, ContainerPort: port, Protocol: corev1.ProtocolTCP}
}

// probes returns probes that run a script in the image. The emulator also checks with Kafka
// itself that the brokers serve clients before the cluster is ready.
func probes(n node) (liveness, readiness *corev1.Probe) {
	script := "/opt/kafka/" + n.component()
	return probe(script + "_liveness.sh"), probe(script + "_readiness.sh")
}

func probe(script string) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:        corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{script}}},
		InitialDelaySeconds: 15,
		PeriodSeconds:       10,
		TimeoutSeconds:      5,
	}
}

// annotate sets the annotations by which the operator recognizes outdated Pods.
func (g Generation) annotate(pod *corev1.Pod, config *corev1.ConfigMap) error {
	configuration, err := hash(config.Data)
	if err != nil {
		return fmt.Errorf("hashing ConfigMap %q: %w", config.Name, err)
	}
	if !g.ZooKeeper {
		server, err := hash(pod.Name)
		if err != nil {
			return fmt.Errorf("hashing the name of Pod %q: %w", pod.Name, err)
		}
		maps.Copy(pod.Annotations, map[string]string{
			"strimzi.io/clients-ca-cert-generation": "0",
			"strimzi.io/cluster-ca-cert-generation": "0",
			"strimzi.io/cluster-ca-key-generation":  "0",
			"strimzi.io/configuration-hash":         configuration,
			"strimzi.io/kafka-version":              g.KafkaVersion,
			"strimzi.io/server-cert-hash":           server,
		})
	}
	revision, err := hash([]any{pod.Labels, pod.Annotations, pod.Spec, configuration})
	if err != nil {
		return fmt.Errorf("hashing Pod %q: %w", pod.Name, err)
	}
	pod.Annotations[annotationRevision] = revision
	if !g.ZooKeeper {
		pod.Annotations["strimzi.io/resource-revision"] = revision
	}
	return nil
}

func hash(of any) (string, error) {
	text, err := json.Marshal(of)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4]), nil
}
