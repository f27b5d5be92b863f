// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"io"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestPullFlags(t *testing.T) {
	for given, accepted := range map[string]bool{"--policy=Always": true, "--policy=": true, "--policy=always": false, "--secret=registry": true, "--secret=Registry": false, "--secret=": false} {
		var o options
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		flags.SetOutput(io.Discard)
		flags.Var(&o.k6PullPolicy, "policy", "")
		flags.Var(&o.pullSecrets, "secret", "")
		if err := flags.Parse([]string{given}); (err == nil) != accepted {
			t.Errorf("%s: %v, want accepted %v", given, err, accepted)
		}
	}
}

func TestPullPolicyOfEachImage(t *testing.T) {
	o := options{k6Image: "k6:1", starterImage: "k6:1", collectorImage: "collector:1", k6PullPolicy: "Always", pullSecrets: pullSecrets{{Name: "registry"}}}
	want := environment.Pulls{
		Secrets:  []corev1.LocalObjectReference{{Name: "registry"}},
		Policies: map[string]corev1.PullPolicy{"k6:1": corev1.PullAlways},
	}
	expect.Equal(t, want, o.pulls())
	expect.Equal(t, environment.Pulls{}, (&options{k6Image: "k6:1"}).pulls(), "without settings")
}
