// SPDX-License-Identifier: Apache-2.0

// Package k6operator emulates k6-operator 1.6.0 for tests, on clusters where the real one
// can't be installed. Only the operator is emulated: the runners that it starts run the
// real k6.
//
// It has all that a client can see: stages and conditions, the initializer, runner and
// starter Jobs with their commands, the runners' Services, and the weak points: finished
// does not mean success, a runner that can't start keeps the run in stage created forever, a
// runner that the starter did not reach stays paused forever, unreachable runners are
// retried with growing delays, no Kubernetes events, a spec that is read only once. It leaves
// out Grafana Cloud, PrivateLoadZones and the deprecated Envoy support.
package k6operator

// apiPort is the port of a runner's k6 REST API.
const apiPort = 6565
