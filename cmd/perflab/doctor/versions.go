// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/tested"
)

// deploymentPage is how many Deployments a request returns.
const deploymentPage = 250

func checkKubernetes(matrix tested.Kubernetes, version, host string) Finding {
	result := Finding{"cluster", stateOK, "Kubernetes " + version + " at " + host}
	switch {
	case !matrix.Supports(version):
		result.State, result.Message = stateMissing, result.Message+": PerfLab needs "+matrix.Minimum+" or later"
	case !tested.Includes(matrix.Versions, version):
		result.State, result.Message = stateWarning, result.Message+": PerfLab is tested with "+strings.Join(matrix.Versions, ", ")
	}
	return result
}

// checkDependencies checks that other operators and APIs are installed, in a tested version if it
// is known.
func checkDependencies(ctx context.Context, served discovery.DiscoveryInterface, reader client.Reader) []Finding {
	installed := installedVersions(ctx, reader)
	var findings []Finding
	for _, other := range dependencies {
		found := checkKind(served, other.kind, other.severity, other.subject, other.remedy())
		if found.State == stateOK {
			found = checkVersion(found, other.tested(), installed[other.component])
		}
		findings = append(findings, found)
	}
	return findings
}

// checkVersion adds an installed version to a finding. Empty: it is unknown.
func checkVersion(found Finding, component tested.Component, version string) Finding {
	if version == "" {
		return found
	}
	found.Message += ", version " + version
	if !tested.Includes(component.Versions, version) {
		found.State = stateWarning
		found.Message += fmt.Sprintf(": PerfLab is tested with %s %s", component, strings.Join(component.Versions, ", "))
	}
	return found
}

// installedVersions are the versions of components by the images of Deployments, as far as
// they can be listed.
func installedVersions(ctx context.Context, reader client.Reader) map[string]string {
	found := map[string]string{}
	// Without the right to list Deployments there are no versions.
	_ = kube.Pages(ctx, reader, &appsv1.DeploymentList{}, deploymentPage, func(page *appsv1.DeploymentList) error {
		for i := range page.Items {
			for _, container := range page.Items[i].Spec.Template.Spec.Containers {
				for _, component := range tested.Versions().Components {
					if version := component.ImageVersion(container.Image); version != "" {
						found[component.Name] = version
					}
				}
			}
		}
		return nil
	})
	return found
}
