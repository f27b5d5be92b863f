// SPDX-License-Identifier: Apache-2.0

// Package k6operator emulates k6-operator 1.6.0 for tests, on clusters where
// the real one cannot be installed. It is a fake of the operator only: the
// runners it starts run the real k6.
//
// It keeps what a client can see: stages and conditions, the initializer, runner
// and starter Jobs with their commands, the runners' Services, and the weak
// points: finished says nothing about success, a runner that cannot start
// leaves the run in stage created for ever, a runner the starter did not reach
// stays paused for ever, runners that do not answer are asked again with growing
// pauses, no Kubernetes events, a spec that is not read again.
// It leaves out Grafana Cloud, PrivateLoadZones and the deprecated Envoy support.
package k6operator

// apiPort is where a runner answers k6's REST API.
const apiPort = 6565
