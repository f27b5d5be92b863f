// SPDX-License-Identifier: Apache-2.0

package modules

import (
	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
)

// mount adds declared volumes to a pod and its first container.
func mount(pod *corev1.PodSpec, volumes []v1alpha1.ModuleVolume) {
	for _, declared := range volumes {
		pod.Volumes = append(pod.Volumes, corev1.Volume{Name: declared.Name, VolumeSource: source(declared)})
		pod.Containers[0].VolumeMounts = append(pod.Containers[0].VolumeMounts, corev1.VolumeMount{
			Name: declared.Name, MountPath: declared.MountPath, SubPath: declared.SubPath,
			ReadOnly: declared.ReadOnly || declared.ConfigMap != nil || declared.Secret != nil,
		})
	}
}

func source(declared v1alpha1.ModuleVolume) corev1.VolumeSource {
	switch {
	case declared.ConfigMap != nil:
		return corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: declared.ConfigMap.Name},
		}}
	case declared.Secret != nil:
		return corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: declared.Secret.Name}}
	case declared.PersistentVolumeClaim != nil:
		return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{
			ClaimName: declared.PersistentVolumeClaim.ClaimName, ReadOnly: declared.ReadOnly,
		}}
	default:
		return corev1.VolumeSource{EmptyDir: emptyDir(declared.EmptyDir)}
	}
}

func emptyDir(declared *v1alpha1.EmptyDir) *corev1.EmptyDirVolumeSource {
	empty := &corev1.EmptyDirVolumeSource{}
	if declared == nil {
		return empty
	}
	if declared.Memory {
		empty.Medium = corev1.StorageMediumMemory
	}
	if declared.SizeLimit != nil {
		size := declared.SizeLimit.DeepCopy()
		empty.SizeLimit = &size
	}
	return empty
}
