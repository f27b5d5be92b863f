// SPDX-License-Identifier: Apache-2.0

package apiserver_test

import (
	"testing"

	"k8s.io/client-go/rest"

	"perflab.dev/perflab/internal/network/egress"
	"perflab.dev/perflab/internal/network/egress/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestAddresses(t *testing.T) {
	for name, tc := range map[string]struct {
		config     rest.Config
		host, port string
		want       []string
	}{
		"in a cluster": {config: rest.Config{Host: "https://10.96.0.1:443"}, host: "10.96.0.1", port: "443", want: []string{"10.96.0.1:443", "10.96.0.1:443"}},
		"IPv6":         {config: rest.Config{Host: "https://[fd00::1]:443"}, host: "fd00::1", port: "443", want: []string{"[fd00::1]:443", "[fd00::1]:443"}},
		"a name":       {config: rest.Config{Host: "https://api.example.org/clusters/a"}, want: []string{"api.example.org:443"}},
		"plain HTTP":   {config: rest.Config{Host: "http://127.0.0.1"}, want: []string{"127.0.0.1:80"}},
		"no scheme":    {config: rest.Config{Host: "10.0.0.1:6443"}, host: "10.96.0.1", want: []string{"10.0.0.1:6443", "10.96.0.1:443"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBERNETES_SERVICE_HOST", tc.host)
			t.Setenv("KUBERNETES_SERVICE_PORT", tc.port)
			got, err := apiserver.Addresses(&tc.config)
			expect.NoError(t, err)
			expect.Equal(t, tc.want, got)
			_, err = egress.New(egress.Lists{}, got...)
			expect.NoError(t, err)
		})
	}
}
