// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds PerfLab's kinds: PerfExperiment, which a person
// writes, PerfRun, which the operator makes for every run of it, PerfSystem, which
// experiments share, and PerfSchedule, which makes experiments.
//
// Numbers in status are decimal strings with a unit beside them, so that no
// client has to agree on floating point. Lists are keyed and bounded.
//
// +kubebuilder:object:generate=true
// +groupName=perflab.dev
package v1alpha1
