// SPDX-License-Identifier: Apache-2.0

package main

import "errors"

// lanes is the scope in which experiments take turns.
type lanes string

const (
	// lanesCluster makes experiments of all namespaces take turns.
	lanesCluster lanes = "cluster"
	// lanesNamespace only separates the runs of one namespace.
	lanesNamespace lanes = "namespace"
)

var errLanes = errors.New("write cluster or namespace")

// Set parses the flag.
func (l *lanes) Set(given string) error {
	switch parsed := lanes(given); parsed {
	case lanesCluster, lanesNamespace:
		*l = parsed
		return nil
	default:
		return errLanes
	}
}

// String is the value that Set parses.
func (l *lanes) String() string { return string(*l) }

// ticketNamespace is the namespace of the queue: the operator's. Empty: experiments
// don't queue, or the operator runs outside the cluster.
func (o *options) ticketNamespace() string {
	if o.lanes == lanesNamespace {
		return ""
	}
	return o.ownNamespace
}
