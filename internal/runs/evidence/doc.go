// SPDX-License-Identifier: Apache-2.0

// Package evidence computes and verifies the digests of an experiment. It is pure.
//
// The chain has these links, each a SHA-256:
//
//   - the run's status has the digests of the payloads that pods printed, and of the run's
//     ConfigMaps ([ContentDigest]);
//   - the [Manifest] has the digest of each finished run's spec and status, of the plan and,
//     after the experiment has ended, of its result and its history ConfigMap;
//   - the experiment's status and the report have the digest of the manifest.
//
// # How objects are digested
//
// Objects are encoded as JSON as clients read them from an API server, reduced to the
// fields of a schema, and canonicalized by RFC 8785. A schema is a list of fields, and the
// manifest has the schemas of its digests: a field of a later version, defaulted or not,
// changes no earlier digest. Omitted are metadata except the name, null and empty lists,
// the times of conditions, and generations. Integers beyond 2^53, which RFC 8785 can't
// distinguish, are written as strings.
//
// The digests show that nothing was changed since; they are not signed, so they do not show
// who computed them. A user who may write everything can rebuild a chain, but not with the
// manifest digest that was published before.
package evidence
