// SPDX-License-Identifier: Apache-2.0

// Package evidence says what is digested of an experiment, and how, and whether
// the digests still hold. It is pure.
//
// The chain has these links, each a SHA-256:
//
//   - the payloads that pods printed, and the ConfigMaps that are kept of a run
//     ([Content]), stand in the run's status;
//   - the record of a run that is over, its spec and status, stands in the
//     [Manifest], with the plan and, once the experiment has ended, its answer and
//     what is kept of it for histories;
//   - the manifest's own stands in the experiment's status and on the report.
//
// # How objects are digested
//
// Objects are encoded as JSON as clients read them from an API server, reduced to
// the fields of a form, and canonicalized by RFC 8785. A form is a list of
// fields, and the manifest carries those it was made with: a field that a later
// version adds, defaulted or not, changes no digest of an earlier one. Left out
// are metadata but the name, null and empty lists, what says when a condition
// changed, and what counts generations. Integers beyond 2^53, which RFC 8785
// can't tell apart, are written as strings.
//
// The digests show that nothing was changed since; they are not signed, so they
// don't show by whom they were made. Who may write everything can make a chain
// anew, but not one with the manifest's digest that was published before.
package evidence
