// SPDX-License-Identifier: Apache-2.0

// Package view is the living page of an experiment that runs: how far it is, what
// its current run does, what came out so far; and, once it is complete, its report.
// What is shown is made of a Sight alone, by functions that know no cluster. The
// handlers answer GET and HEAD, change nothing, and show nothing but what
// experiments and runs hold.
package view
