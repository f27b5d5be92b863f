// SPDX-License-Identifier: Apache-2.0

package allowedhosts_test

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/network/allowedhosts"
)

func login(annotation string) *corev1.Secret {
	made := &corev1.Secret{}
	made.Namespace, made.Name = "lab", "msk"
	made.Annotations = map[string]string{v1alpha1.AnnotationHosts: annotation}
	return made
}

func TestHosts(t *testing.T) {
	for _, c := range []struct {
		annotation, address string
		allowed             bool
	}{
		{"b-1.example.org", "b-1.example.org:9092", true},
		{"b-1.example.org", "b-1.example.org:1", true},
		{"b-1.example.org", "B-1.Example.ORG.:9092", true},
		{"B-1.Example.org:9092", "b-1.example.org:9092", true},
		{"b-1.example.org:9092", "b-1.example.org:9093", false},
		{"b-1.example.org", "b-2.example.org:9092", false},
		{"b-1.example.org", "x.b-1.example.org:9092", false},
		{"b-1.example.org, b-2.example.org:9092", "b-2.example.org:9092", true},
		{"*.example.org", "b-1.example.org:9092", true},
		{"*.example.org", "b-1.kafka.example.org:9092", true},
		{"*.example.org", "example.org:9092", false},
		{"*.example.org", ".example.org:9092", false},
		{"*.example.org", "evilexample.org:9092", false},
		{"*.example.org", "b-1.example.org.evil.net:9092", false},
		{"*.example.org:9092", "b-1.example.org:9092", true},
		{"*.example.org:9092", "b-1.example.org:22", false},
		{"10.0.0.1", "10.0.0.1:9092", true},
		{"10.0.0.1", "10.0.0.11:9092", false},
		{"[::1]:9092", "[::1]:9092", true},
		{"[::1]", "[::1]:9092", true},
		{"[::1]", "[::2]:9092", false},
		{"b-1.example.org", "b-1.example.org", false},
		{"b-1.example.org", "", false},
	} {
		list, err := allowedhosts.ParseSecret(login(c.annotation), nil)
		if err != nil {
			t.Errorf("%q: %v", c.annotation, err)
			continue
		}
		if got := list.Allow(c.address); (got == nil) != c.allowed {
			t.Errorf("%q and %q: %v, want allowed %v", c.annotation, c.address, got, c.allowed)
		}
	}
}

func TestNotAllowedMessage(t *testing.T) {
	unsaid := login("")
	unsaid.Annotations = nil
	for name, c := range map[string]struct {
		secret *corev1.Secret
		want   string
	}{
		"no annotation": {unsaid, `Secret "msk" does not name the hosts that its login may be sent to: if these are correct, run: kubectl annotate secret msk -n lab --overwrite 'perflab.dev/hosts=b-1.example.org:9092,b-2.example.org:9092'`},
		"one of two":    {login("b-1.example.org"), `the login of Secret "msk" may not be sent to "b-2.example.org:9092": if that host is correct, run: kubectl annotate secret msk -n lab --overwrite 'perflab.dev/hosts=b-1.example.org,b-2.example.org:9092'`},
		"empty":         {login(""), `contains "", which is not a host`},
		"everywhere":    {login("*"), `contains "*"`},
		"everywhere, .": {login("*."), `contains "*."`},
		"in the middle": {login("b-*.example.org"), `contains "b-*.example.org"`},
		"a scheme":      {login("https://b-1.example.org"), `contains "https://b-1.example.org"`},
		"a blank":       {login("b-1.example.org b-2.example.org"), "which is not a host, host:port or *.domain: write, for example,"},
	} {
		_, err := allowedhosts.ParseSecret(c.secret, []string{"b-1.example.org:9092", "b-2.example.org:9092"})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	list, err := allowedhosts.ParseSecret(login("*.example.org"), []string{"b-1.example.org:9092"})
	var refused *allowedhosts.NotAllowed
	if err != nil || !errors.As(list.Allow("evil.net:1"), &refused) || refused.Address != "evil.net:1" {
		t.Errorf("%v, %v", err, refused)
	}
}

// Users paste the command, and the author of an experiment or the owner of a
// broker chooses the address.
func TestCommandIsQuoted(t *testing.T) {
	for _, address := range []string{"x';reboot;':9092", "$(reboot):9092", "a,*.evil.net:9092", "a b:9092"} {
		_, err := allowedhosts.ParseSecret(login("example.org"), []string{address})
		if err == nil || !strings.HasSuffix(err.Error(), "'perflab.dev/hosts=example.org,HOST:PORT'") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestAbsentListAllowsAll(t *testing.T) {
	if err := (allowedhosts.List{}).Allow("anywhere:1"); err != nil {
		t.Error(err)
	}
}
