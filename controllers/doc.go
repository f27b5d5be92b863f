// SPDX-License-Identifier: Apache-2.0

// Package controllers contains the reconcilers of PerfExperiments and PerfRuns, in separate
// packages that do not import each other, and the tests of both together against a real API server.
// A reconciler is a short list of steps. Steps gather facts in a scope that lasts for one
// reconcile, and one function per kind turns the facts into the status, which is written once per
// reconcile. The operator keeps no state between reconciles, only in the cluster, so it may be
// killed at any line.
package controllers
