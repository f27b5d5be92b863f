// SPDX-License-Identifier: Apache-2.0

// Package component has what a run needs in place: Kafka, PostgreSQL, modules and others. Each
// is a type with one interface; conditions, waits, verification and teardown iterate over one
// list of them. It also has what the controllers share. It does not import them.
package component
