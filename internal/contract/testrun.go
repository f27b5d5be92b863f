// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestRunKind is k6-operator's TestRun.
var TestRunKind = schema.GroupVersionKind{Group: "k6.io", Version: "v1alpha1", Kind: "TestRun"}

// RunnerContainer is the name of the container k6 runs in.
const RunnerContainer = "k6"

// K6Operator is part of the name of k6-operator's image.
const K6Operator = "k6-operator"

// K6OperatorLabels are on its Deployment: as its chart has them, and as its
// bundle of manifests has.
var K6OperatorLabels = []map[string]string{
	{"app.kubernetes.io/name": K6Operator},
	{"control-plane": "controller-manager"},
}

// Labels k6-operator puts on the Jobs and pods of a TestRun.
const (
	// LabelTestRun names the TestRun.
	LabelTestRun = "k6_cr"
	// LabelRunner is "true" on runners, and absent on initializer and starter.
	LabelRunner = "runner"
)

// Stage says where k6-operator is with a TestRun. Stages follow each other in
// this order; StageError can follow any.
type Stage string

// Stages of a TestRun.
const (
	// StageInitialization checks the script.
	StageInitialization Stage = "initialization"
	// StageInitialized is about to create the runners.
	StageInitialized Stage = "initialized"
	// StageCreated waits until all runners are up. It has no time-out.
	StageCreated Stage = "created"
	// StageStarted has released the runners.
	StageStarted Stage = "started"
	// StageStopped has seen the runners end.
	StageStopped Stage = "stopped"
	// StageFinished is over. It does not say that anything succeeded.
	StageFinished Stage = "finished"
	// StageError could not be started.
	StageError Stage = "error"
)

// TestRun reads a k6-operator TestRun.
type TestRun struct{ Object *unstructured.Unstructured }

// Stage is where k6-operator is with the TestRun, empty before it began.
func (t TestRun) Stage() Stage { return Stage(text(t.Object, "status", "stage")) }
