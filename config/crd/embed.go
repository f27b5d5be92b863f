// SPDX-License-Identifier: Apache-2.0

// Package crd holds the definitions of PerfLab's kinds, for programs that
// judge a manifest without a cluster.
package crd

import "embed"

// Definitions are the CustomResourceDefinitions, one file each.
//
//go:embed perflab.dev_*.yaml
var Definitions embed.FS
