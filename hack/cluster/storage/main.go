// SPDX-License-Identifier: Apache-2.0

// Command storage provisions PersistentVolumes of a one-node cluster: each is
// a directory on the node.
package main

import (
	"context"
	"flag"
	"os/signal"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// provisionerName is what a StorageClass names to get these volumes.
const provisionerName = "perflab.dev/directory"

func main() {
	root := flag.String("directory", "/volumes", "where the node's directory for volumes is mounted here")
	nodeRoot := flag.String("node-directory", "", "the path of the same directory on the node")
	klog.InitFlags(nil)
	flag.Parse()
	if *nodeRoot == "" {
		klog.Fatal("-node-directory is required")
	}

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	config, err := rest.InClusterConfig()
	if err != nil {
		klog.Fatalf("reading the pod's service account: %v", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		klog.Fatalf("creating the API client: %v", err)
	}
	directories := &directories{root: *root, nodeRoot: *nodeRoot}
	// A single replica, recreated rather than rolled, needs no leader election.
	controller.NewProvisionController(ctx, client, provisionerName, directories,
		controller.LeaderElection(false)).Run(ctx)
}
