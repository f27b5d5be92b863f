// SPDX-License-Identifier: Apache-2.0

// Package crds holds the sources of the emulators' CRDs: generate.sh, which runs
// Strimzi's own generator, and the TestRun that is generated from the Go types of the
// k6-operator emulator.
package crds

//go:generate ./testrun.sh
//go:generate go run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0 object:headerFile=../../../hack/boilerplate.go.txt paths=../k6operator/api/... paths=../strimzi/api/...
