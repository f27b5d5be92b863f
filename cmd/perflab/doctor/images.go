// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// imageVariables are environment variables of the operator's container with
// images, and the Helm values that set them.
var imageVariables = []struct{ name, subject, value string }{
	{"K6_IMAGE", "image of the loads", "images.k6"},
	{"COLLECTOR_IMAGE", "image of the collector", "images.collector"},
}

// checkImages checks whether nodes have the operator's images. Nodes report
// only their fifty largest images, so a missing one may exist.
func checkImages(ctx context.Context, reader client.Reader, environment []corev1.EnvVar) []Finding {
	var nodes corev1.NodeList
	err := reader.List(ctx, &nodes)
	var findings []Finding
	for _, variable := range imageVariables {
		at := slices.IndexFunc(environment, func(v corev1.EnvVar) bool { return v.Name == variable.name })
		switch {
		case at < 0:
			findings = append(findings, Finding{variable.subject, stateMissing, fmt.Sprintf("the operator has no image: set %s (Helm) or %s", variable.value, variable.name)})
		case apierrors.IsForbidden(err):
			findings = append(findings, Finding{variable.subject, stateWarning, environment[at].Value + "; unknown on nodes: you can't list nodes"})
		case err != nil:
			findings = append(findings, Finding{variable.subject, stateMissing, err.Error()})
		default:
			findings = append(findings, checkImage(nodes.Items, variable.subject, environment[at].Value, variable.value))
		}
	}
	return findings
}

func checkImage(nodes []corev1.Node, subject, image, value string) Finding {
	count := 0
	for _, node := range nodes {
		if slices.ContainsFunc(node.Status.Images, func(i corev1.ContainerImage) bool { return slices.ContainsFunc(i.Names, matchesImage(image)) }) {
			count++
		}
	}
	switch {
	case count > 0:
		return Finding{subject, stateOK, fmt.Sprintf("%s, on %d of %d nodes", image, count, len(nodes))}
	case strings.HasPrefix(image, "localhost/"):
		return Finding{subject, stateMissing, fmt.Sprintf("%s is not on any node, and localhost is not a registry: run make images on the local cluster, or push it to a registry and set %s", image, value)}
	default:
		return Finding{subject, stateWarning, image + " is not on any node yet: the first run pulls it, and reports failures in its condition ImagesAvailable"}
	}
}

// matchesImage compares a possibly short name with the full names that nodes
// report.
func matchesImage(image string) func(name string) bool {
	return func(name string) bool { return name == image || strings.HasSuffix(name, "/"+image) }
}
