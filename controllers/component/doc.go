// SPDX-License-Identifier: Apache-2.0

// Package component holds what experiments and runs both know of the parts that
// a run is made of: the list of them, the conditions that speak of them, what to
// tell when one can't be written, how they are found and how they go away. It is
// below both controllers, which don't know each other.
package component
