// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestRunKind is k6-operator's TestRun.
var TestRunKind = schema.GroupVersionKind{Group: "k6.io", Version: "v1alpha1", Kind: "TestRun"}

// RunnerContainer is the name of k6's container.
const RunnerContainer = "k6"

// K6Operator is part of the name of k6-operator's image.
const K6Operator = "k6-operator"

// K6OperatorLabels are the labels of its Deployment, in its chart and in its manifests.
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

// Stage is the stage of a TestRun. Stages follow in this order; StageError can follow any.
type Stage string

// Stages of a TestRun.
const (
	// StageInitialization checks the script.
	StageInitialization Stage = "initialization"
	// StageInitialized creates the runners next.
	StageInitialized Stage = "initialized"
	// StageCreated waits until all runners are ready. It has no time-out.
	StageCreated Stage = "created"
	// StageStarted has released the runners.
	StageStarted Stage = "started"
	// StageStopped: the runners have ended.
	StageStopped Stage = "stopped"
	// StageFinished: the TestRun has finished, successfully or not.
	StageFinished Stage = "finished"
	// StageError: the TestRun could not start.
	StageError Stage = "error"
)

// TestRun reads a k6-operator TestRun.
type TestRun struct{ Object *unstructured.Unstructured }

// LastTransition returns the latest time at which a condition changed; zero without conditions.
func (t TestRun) LastTransition() time.Time { return lastTransition(t.Object) }

// Stage returns the stage of the TestRun; empty if there is none yet.
func (t TestRun) Stage() Stage { return Stage(text(t.Object, "status", "stage")) }
