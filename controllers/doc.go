// SPDX-License-Identifier: Apache-2.0

// Package controllers holds those who reconcile PerfExperiments and PerfRuns, in
// packages of their own that don't know each other, and the tests of both
// together against a real API server. A reconciler is a short list of steps;
// steps gather facts in a scope that lives for one pass, and one function per
// kind turns the facts into status, written once per pass. The operator keeps
// nothing between passes: the cluster is the memory, and it may be killed at any
// line.
package controllers
