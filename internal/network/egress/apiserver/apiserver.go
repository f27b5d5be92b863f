// SPDX-License-Identifier: Apache-2.0

// Package apiserver returns the addresses of the API server, which experiments may not access.
package apiserver

import (
	"cmp"
	"fmt"
	"net"
	"os"

	"k8s.io/client-go/rest"
)

// Addresses returns the addresses of the API server as host:port: that of the configuration,
// and that in the environment of every pod.
func Addresses(config *rest.Config) ([]string, error) {
	named, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("reading the address of the API server: %w", err)
	}
	standard := map[string]string{"http": "80"}[named.Scheme]
	servers := []string{net.JoinHostPort(named.Hostname(), cmp.Or(named.Port(), standard, "443"))}
	if host := os.Getenv("KUBERNETES_SERVICE_HOST"); host != "" {
		servers = append(servers, net.JoinHostPort(host, cmp.Or(os.Getenv("KUBERNETES_SERVICE_PORT"), "443")))
	}
	return servers, nil
}
