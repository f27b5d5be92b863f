// SPDX-License-Identifier: Apache-2.0

// Package archive keeps what experiments recorded in an object store, for longer
// than a cluster lives: raw results, the records of runs, plans and reports.
//
// # What is where
//
// Four kinds of objects, none of which is ever changed:
//
//	objects/sha256/ab/abcd...                                bytes, under their own SHA-256
//	runs/NAMESPACE/EXPERIMENT/EXPERIMENT-UID/RUN/sha256-...  a reference to the manifest of a run
//	experiments/NAMESPACE/EXPERIMENT/UID/sha256-...          and to that of an experiment
//	series/NAMESPACE/SERIES/TIME.UID/sha256-...              a point: what a series needs of an experiment
//
// A [Manifest] is an object like any other: it says what was recorded, and lists the
// items of its [Record] with their digests and sizes. What it refers to is written
// first, the reference last: a record is kept if, and only if, its reference reads.
// The reference has the manifest's digest in its name and in its content. So keeping
// the same record again writes nothing new, whoever does it and however often, and a
// record that changed is kept beside the earlier one. The one with the later time stands;
// of an experiment's records of one time the one with the higher number, which counts
// them: it is a part of the manifest, so that a copy of an archive tells the same.
//
// Points are an index and nothing more: manifests say all of them, so that they can be
// made anew. Their names are in the order of time: one list of a prefix is a series.
//
// Objects are stored as they are: their digest is the one that sha256sum prints, and
// nothing of this project is needed to check an archive. Raw results come compressed;
// what could be made smaller is of a size at which stores charge for the request.
//
// # What is believed
//
// Nothing that does not match its digest. [Store.Put] reads back what it wrote, and
// what was there already; [Store.Get] and [Store.Load] give either the right bytes or
// [ErrMismatch].
//
// # What can go wrong
//
// Each error is one of the sentinels of this package, by [errors.Is], and a sentence
// that says what to do, and that is the same each time the same goes wrong. It quotes
// nothing of what a client library says: that has the names of requests in it, and
// could have credentials. Each request ends within [Options.Timeout], and what a store
// sends is read up to [Options.MaxObject].
//
// The package knows no client library but through [Bucket]. Those are in the packages
// below stores: who imports one of them links it.
package archive
