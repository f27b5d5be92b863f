// SPDX-License-Identifier: Apache-2.0

// Package k6operator emulates k6-operator 1.6.0 for tests, on clusters where the real one
// can't be installed. Only the operator is emulated: the runners that it starts run the
// real k6.
//
// The package emulates everything that a client can see: stages and conditions, the
// initializer, runner and starter Jobs with their commands, and the runners' Services. It also
// emulates the weaknesses of k6-operator:
//
//   - A finished run is not necessarily successful.
//   - A runner that can't start keeps the run in stage created forever.
//   - A runner that the starter did not reach stays paused forever.
//   - Unreachable runners are retried with growing delays.
//   - There are no Kubernetes events.
//   - The spec is read only once.
//
// The package omits Grafana Cloud, PrivateLoadZones and the deprecated Envoy support.
package k6operator

// apiPort is the port of a runner's k6 REST API.
const apiPort = 6565
