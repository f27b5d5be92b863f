// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 defines PerfLab's API: PerfExperiment, which users write;
// PerfRun, which the operator creates for every run of it; PerfSystem, which
// experiments share; and PerfSchedule, which creates experiments.
//
// Numbers in status are decimal strings with a unit beside them, so that clients
// need not agree on floating point. Lists are keyed and bounded.
//
// +kubebuilder:object:generate=true
// +groupName=perflab.dev
package v1alpha1
