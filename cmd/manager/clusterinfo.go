// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"

	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/version"
)

// clusterInfo returns the versions that runs record.
func clusterInfo(served discovery.ServerVersionInterface, o options) component.ClusterInfo {
	return component.ClusterInfo{
		Version: version.Current(),
		Pod:     ownPod(o.ownNamespace),
		Kubernetes: func() (string, error) {
			serverVersion, err := served.ServerVersion()
			if err != nil {
				return "", err
			}
			return serverVersion.GitVersion, nil
		},
	}
}

// ownPod is the operator's pod, whose name is its host name.
func ownPod(namespace string) client.ObjectKey {
	name, err := os.Hostname()
	if err != nil || namespace == "" {
		return client.ObjectKey{}
	}
	return client.ObjectKey{Namespace: namespace, Name: name}
}
