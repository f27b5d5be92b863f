// SPDX-License-Identifier: Apache-2.0

package main

import "errors"

// lanes is how far experiments are kept from measuring each other.
type lanes string

const (
	// lanesCluster lets experiments of all namespaces take turns.
	lanesCluster lanes = "cluster"
	// lanesNamespace only keeps the runs of one namespace apart.
	lanesNamespace lanes = "namespace"
)

var errLanes = errors.New("write cluster or namespace")

// Set reads it from a flag.
func (l *lanes) Set(given string) error {
	switch parsed := lanes(given); parsed {
	case lanesCluster, lanesNamespace:
		*l = parsed
		return nil
	default:
		return errLanes
	}
}

// String is what Set reads.
func (l *lanes) String() string { return string(*l) }

// ticketNamespace is where experiments wait for their turns: with the operator. Empty:
// they take none, or the operator runs outside of the cluster.
func (o *options) ticketNamespace() string {
	if o.lanes == lanesNamespace {
		return ""
	}
	return o.ownNamespace
}
