// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"perflab.dev/perflab/internal/environment"
)

// pullPolicy is a flag with a pull policy; empty: Kubernetes' default.
type pullPolicy corev1.PullPolicy

var pullPolicies = []corev1.PullPolicy{corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever, ""}

// Set parses a pull policy.
func (p *pullPolicy) Set(text string) error {
	if !slices.Contains(pullPolicies, corev1.PullPolicy(text)) {
		return errors.New("write Always, IfNotPresent or Never")
	}
	*p = pullPolicy(text)
	return nil
}

// String returns the policy.
func (p *pullPolicy) String() string { return string(*p) }

// pullSecrets is a repeatable flag with names of Secrets.
type pullSecrets []corev1.LocalObjectReference

// Set adds a Secret.
func (p *pullSecrets) Set(name string) error {
	if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 {
		return fmt.Errorf("not the name of a Secret: %s", wrong[0])
	}
	*p = append(*p, corev1.LocalObjectReference{Name: name})
	return nil
}

// String lists the names.
func (p *pullSecrets) String() string { return fmt.Sprint([]corev1.LocalObjectReference(*p)) }

// pulls are the settings for the images of the operator's pods.
func (o *options) pulls() environment.Pulls {
	pulls := environment.Pulls{Secrets: o.pullSecrets}
	for image, policy := range map[string]pullPolicy{o.k6Image: o.k6PullPolicy, o.starterImage: o.k6PullPolicy, o.collectorImage: o.collectorPullPolicy} {
		if policy != "" {
			if pulls.Policies == nil {
				pulls.Policies = map[string]corev1.PullPolicy{}
			}
			pulls.Policies[image] = corev1.PullPolicy(policy)
		}
	}
	return pulls
}
