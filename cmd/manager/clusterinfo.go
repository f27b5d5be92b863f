// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"

	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/version"
)

// clusterInfo tell runs what they meet beside the system under test.
func clusterInfo(served discovery.ServerVersionInterface, o options) component.ClusterInfo {
	return component.ClusterInfo{
		Version: version.Current(),
		Pod:     ownPod(o.ownNamespace),
		Kubernetes: func() (string, error) {
			told, err := served.ServerVersion()
			if err != nil {
				return "", err
			}
			return told.GitVersion, nil
		},
	}
}

// ownPod is the operator's, whose host name Kubernetes makes the pod's name.
func ownPod(namespace string) client.ObjectKey {
	name, err := os.Hostname()
	if err != nil || namespace == "" {
		return client.ObjectKey{}
	}
	return client.ObjectKey{Namespace: namespace, Name: name}
}
