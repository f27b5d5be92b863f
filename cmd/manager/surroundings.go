// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"runtime/debug"

	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/controllers/component"
)

// surroundings tell runs what they meet beside the system under test.
func surroundings(served discovery.ServerVersionInterface, o options) component.Surroundings {
	return component.Surroundings{
		PerfLab: ownVersion(debug.ReadBuildInfo()),
		Pod:     ownPod(o.ownNamespace),
		Kubernetes: func() (string, error) {
			version, err := served.ServerVersion()
			if err != nil {
				return "", err
			}
			return version.GitVersion, nil
		},
	}
}

// unversioned is what Go says of a program that was built without its repository.
const unversioned = "(devel)"

// ownVersion is the one Go built in, or the commit; empty: neither is known, and
// the image tells.
func ownVersion(info *debug.BuildInfo, known bool) string {
	if !known {
		return ""
	}
	if version := info.Main.Version; version != unversioned {
		return version
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value
		}
	}
	return ""
}

// ownPod is the operator's, whose host name Kubernetes makes the pod's name.
func ownPod(namespace string) client.ObjectKey {
	name, err := os.Hostname()
	if err != nil || namespace == "" {
		return client.ObjectKey{}
	}
	return client.ObjectKey{Namespace: namespace, Name: name}
}
