// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/test/emulators/strimzi/api"
)

const dataRoot = "/var/lib/"

// disk is one volume of a node. Its name is "data", or "data-<id>" in a jbod.
type disk struct {
	api.StorageVolume
	Name string
	// component is the component that stores its data on the disk.
	component string
}

func poolDisks(pool *api.KafkaNodePool) []disk {
	component := node{Pool: pool}.component()
	storage := pool.Spec.Storage
	if storage.Type != api.StorageJBOD {
		return []disk{{storage.StorageVolume, "data", component}}
	}
	var disks []disk
	for i, volume := range storage.Volumes {
		id := int32(i)
		if volume.ID != nil {
			id = *volume.ID
		}
		disks = append(disks, disk{volume, fmt.Sprintf("data-%d", id), component})
	}
	return disks
}

func (d disk) mountPath() string           { return dataRoot + d.component + "/" + d.Name }
func (d disk) logDir(n node) string        { return fmt.Sprintf("%s/kafka-log%d", d.mountPath(), n.ID) }
func (d disk) claimName(pod string) string { return d.Name + "-" + pod }
func (d disk) mount() corev1.VolumeMount {
	return corev1.VolumeMount{Name: d.Name, MountPath: d.mountPath()}
}

func usesEphemeral(pool *api.KafkaNodePool) bool { return uses(pool, api.StorageEphemeral) }
func usesClaims(pool *api.KafkaNodePool) bool    { return uses(pool, api.StoragePersistentClaim) }

func uses(pool *api.KafkaNodePool, kind string) bool {
	return slices.ContainsFunc(poolDisks(pool), func(d disk) bool { return d.Type == kind })
}

func logDirs(n node) []string {
	var dirs []string
	for _, d := range poolDisks(n.Pool) {
		dirs = append(dirs, d.logDir(n))
	}
	return dirs
}

// metadataDir returns the log directory of the disk marked for metadata, or that of the first
// disk.
func metadataDir(n node) string {
	disks := poolDisks(n.Pool)
	if len(disks) == 0 {
		return ""
	}
	for _, d := range disks {
		if d.KraftMetadata == "shared" {
			return d.logDir(n)
		}
	}
	return disks[0].logDir(n)
}

// volume returns the disk as a volume of a Pod.
func (d disk) volume(pod string) (corev1.Volume, error) {
	if d.Type == api.StoragePersistentClaim {
		return corev1.Volume{Name: d.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: d.claimName(pod)},
		}}, nil
	}
	empty := &corev1.EmptyDirVolumeSource{}
	if d.SizeLimit != "" {
		limit, err := resource.ParseQuantity(d.SizeLimit)
		if err != nil {
			return corev1.Volume{}, invalidSpec{"InvalidResourceException", fmt.Sprintf("sizeLimit %q: %v", d.SizeLimit, err)}
		}
		empty.SizeLimit = &limit
	}
	return corev1.Volume{Name: d.Name, VolumeSource: corev1.VolumeSource{EmptyDir: empty}}, nil
}

// newClaims builds the PersistentVolumeClaims of one node. Only a claim with
// deleteClaim is deleted with the cluster; the caller sets the owner of those.
func newClaims(kafka *api.Kafka, n node) ([]claim, error) {
	var claims []claim
	for _, d := range poolDisks(n.Pool) {
		if d.Type != api.StoragePersistentClaim {
			continue
		}
		size, err := resource.ParseQuantity(d.Size)
		if err != nil {
			return nil, invalidSpec{"InvalidResourceException", fmt.Sprintf("storage size %q: %v", d.Size, err)}
		}
		pvc := &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: kafka.Namespace,
				Name:      d.claimName(n.podName()),
				Labels:    nodeLabels(kafka.Name, n),
			},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
			},
		}
		if d.Class != "" {
			pvc.Spec.StorageClassName = &d.Class
		}
		claims = append(claims, claim{pvc, d.DeleteClaim})
	}
	return claims, nil
}

// claim is a PersistentVolumeClaim and whether it is deleted with the cluster.
type claim struct {
	*corev1.PersistentVolumeClaim
	deleted bool
}
