// SPDX-License-Identifier: Apache-2.0

// Package archive stores the records of experiments in an object store, beyond the
// lifetime of a cluster: raw results, runs, plans and reports.
//
// # Layout
//
// There are four kinds of immutable objects:
//
//	objects/sha256/ab/abcd...                                bytes, under their own SHA-256
//	runs/NAMESPACE/EXPERIMENT/EXPERIMENT-UID/RUN/sha256-...  a reference to the manifest of a run
//	experiments/NAMESPACE/EXPERIMENT/UID/sha256-...          and to that of an experiment
//	series/NAMESPACE/SERIES/TIME.UID/sha256-...              a point: what a series needs of an experiment
//
// A [Manifest] is stored like any other object. It identifies the run or experiment, and
// lists the items of its [Record] with their digests and sizes. Referenced objects are
// written first, the reference last: a record is stored if, and only if, its reference is
// readable. The reference has the manifest's digest in its name and in its content. So
// storing the same record again writes nothing, and a changed record is stored next to the
// earlier one. The record with the later time is current; of an experiment's records with
// the same time, that with the higher sequence number, which is part of the manifest and
// therefore survives copying an archive.
//
// Points are an index that can be rebuilt from the manifests. Their names sort by time: a
// list of a prefix is a series.
//
// Objects are stored unchanged: sha256sum computes their digest, and checking an archive
// does not need PerfLab. Raw results are compressed; smaller objects would not be cheaper,
// because stores charge for the request.
//
// # Integrity
//
// Only content that matches its digest is used. [Store.Put] reads back what it wrote, and
// what existed; [Store.Get] and [Store.Load] return either the right bytes or
// [ErrMismatch].
//
// # Errors
//
// Each error is one of the sentinels of this package, by [errors.Is], with a stable message
// that contains advice. It does not quote the client library, whose errors have request IDs
// and may contain credentials. Each request ends within [Options.Timeout], and responses
// are read up to [Options.MaxObject].
//
// The package uses client libraries only through [Bucket]. They are in the packages below
// stores: a program links those that it imports.
package archive
