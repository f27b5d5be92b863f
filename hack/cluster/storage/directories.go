// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// directories creates and deletes the directories of volumes.
type directories struct {
	root     string // as this process sees it
	nodeRoot string // as the kubelet sees it
}

var _ controller.Provisioner = (*directories)(nil)

// Provision creates the directory of a volume, writable for every user because pods may have
// any uid, and describes it as a volume bound to its node. The capacity is recorded, not
// enforced.
func (d *directories) Provision(_ context.Context, options controller.ProvisionOptions) (
	*corev1.PersistentVolume, controller.ProvisioningState, error,
) {
	if options.SelectedNodeName == "" {
		return nil, controller.ProvisioningFinished,
			fmt.Errorf("the StorageClass must have volumeBindingMode WaitForFirstConsumer: the volume has no node yet")
	}
	path := filepath.Join(d.root, options.PVName)
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, controller.ProvisioningFinished, fmt.Errorf("making the volume's directory: %w", err)
	}
	if err := os.Chmod(path, 0o777); err != nil { // not restricted by the umask
		return nil, controller.ProvisioningFinished, fmt.Errorf("opening the volume's directory: %w", err)
	}
	return d.volume(options), controller.ProvisioningFinished, nil
}

func (d *directories) volume(options controller.ProvisionOptions) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: options.PVName},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: *options.StorageClass.ReclaimPolicy,
			AccessModes:                   options.PVC.Spec.AccessModes,
			VolumeMode:                    options.PVC.Spec.VolumeMode,
			Capacity: corev1.ResourceList{
				corev1.ResourceStorage: options.PVC.Spec.Resources.Requests[corev1.ResourceStorage],
			},
			// "local", not "hostPath": the kubelet then applies a pod's fsGroup.
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				Local: &corev1.LocalVolumeSource{Path: filepath.Join(d.nodeRoot, options.PVName)},
			},
			NodeAffinity: nodeAffinity(options.SelectedNodeName),
		},
	}
}

func nodeAffinity(node string) *corev1.VolumeNodeAffinity {
	return &corev1.VolumeNodeAffinity{
		Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{
				Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{node},
			}},
		}}},
	}
}

// Delete removes the directory of a volume with its content. Deleting it twice is no error.
func (d *directories) Delete(_ context.Context, volume *corev1.PersistentVolume) error {
	if err := os.RemoveAll(filepath.Join(d.root, filepath.Base(volume.Name))); err != nil {
		return fmt.Errorf("removing the directory of volume %q: %w", volume.Name, err)
	}
	return nil
}
