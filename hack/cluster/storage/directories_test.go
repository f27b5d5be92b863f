// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

func claimOn(node string) controller.ProvisionOptions {
	reclaim := corev1.PersistentVolumeReclaimDelete
	return controller.ProvisionOptions{
		StorageClass:     &storagev1.StorageClass{ReclaimPolicy: &reclaim},
		PVName:           "pvc-1",
		PVC:              &corev1.PersistentVolumeClaim{},
		SelectedNodeName: node,
	}
}

func TestVolumeIsADirectoryEveryUserCanWrite(t *testing.T) {
	provisioner := &directories{root: t.TempDir(), nodeRoot: "/on/node"}

	volume, _, err := provisioner.Provision(context.Background(), claimOn("node-1"))
	if err != nil {
		t.Fatal(err)
	}
	if got := volume.Spec.Local.Path; got != "/on/node/pvc-1" {
		t.Errorf("path on the node = %q", got)
	}
	info, err := os.Stat(filepath.Join(provisioner.root, "pvc-1"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o777 {
		t.Errorf("mode = %v, want rwxrwxrwx whatever the umask", info.Mode())
	}
}

func TestVolumeNeedsANode(t *testing.T) {
	provisioner := &directories{root: t.TempDir()}

	if _, _, err := provisioner.Provision(context.Background(), claimOn("")); err == nil {
		t.Error("provisioned a volume that no node can mount")
	}
}

func TestDeleteTakesContentAndMayBeRepeated(t *testing.T) {
	provisioner := &directories{root: t.TempDir()}
	volume, _, err := provisioner.Provision(context.Background(), claimOn("node-1"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(provisioner.root, volume.Name)
	if err := os.WriteFile(filepath.Join(path, "file"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}

	for range 2 {
		if err := provisioner.Delete(context.Background(), volume); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the directory exists: %v", err)
	}
}
