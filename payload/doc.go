// SPDX-License-Identifier: Apache-2.0

// Package payload is the format in which a load test's results travel as lines of a log,
// from the load generator that writes them to the operator that reads them. This comment is
// the format's specification, version 2.
//
// # What it holds
//
// A payload holds, for one load of one run as one runner saw it:
//
//   - a histogram of durations per row and time bucket. A row is a transaction
//     of one scenario with one outcome, or a request within a transaction, with
//     one outcome and class of status;
//   - sums of counters per time bucket;
//   - the last and the highest value of gauges.
//
// Buckets lie on a grid that all runners share (unix seconds divided by the bucket width, a
// power of two), so that payloads add up without loss: [Merge] of the parts has the same
// percentiles as one payload over all samples. The bucket width doubles as the test
// lengthens, which bounds the size; grids of different width nest. Rows of requests, of
// which there are many, have wider buckets than transactions and counters: a window in time
// is cut more roughly out of them, see [Payload.Between].
//
// # Body
//
// The body is JSON (RFC 8259), compressed with gzip (RFC 1952). [Marshal] gives exactly
// this, for a ConfigMap's binaryData.
//
//	{"version":2, "load":"cico", "run":"demo-0-base", "runner":"tr-1", "generator":"k6 v2.2.0",
//	 "start":"2026-01-02T03:04:05.678Z", "end":"…", "bucketSeconds":4, "requestBucketSeconds":64, "final":true,
//	 "series":[
//	   {"scenario":"cico", "transaction":"Check-In", "outcome":"ok", "buckets":[bucket,…]},
//	   {"scenario":"cico", "transaction":"Check-In", "request":"GET /users", "outcome":"ok", "status":"2xx", "buckets":[bucket,…]}],
//	 "counters":[{"name":"http_reqs", "buckets":[[index,sum],…]}],
//	 "gauges":[{"name":"vus", "last":20, "max":75}]}
//
// "generator" is what measured, with its version, and may be absent.
//
// A series without "request" is the transaction itself. "outcome" is "ok" or "error";
// "status", of requests only, is "1xx" to "5xx" or "error" where there was no answer. The
// transaction of a request outside of any is "".
//
// The counter "perflab_user_seconds" adds up, each second, how many users there were:
// divided by the seconds of a bucket, it is how many there were on average. A load
// generator that does not know them leaves it out.
//
// A bucket is an array
//
//	[index, count, sum, min, max, first, "cells"]
//
// with sum, min and max in nanoseconds, exact. The text has, from the histogram's cell
// first on, the number of samples in each cell: in digits of which the last is one of 32 (#
// to B) and those before it are of 24 (C to Z), so that "#" is 0, "B" is 31, "D#" is 32 and
// "DB" is 63. Empty cells between others are left out: "]" stands for one, the next
// character for two and so on to "~" for 34.
//
// Cell 0 is what is below 1 µs; cell c from there on begins at 1.002^(c-1) µs and ends
// where the next one begins. Whatever lies in a cell is within 0.1 % of 1.002/1.001 times
// its beginning. A duration above a week counts as a week, in the histogram only.
//
// The buckets of a series are sorted by index, and each index, row, counter and gauge
// occurs once.
//
// # Frame
//
// [Write] puts a body into a log as lines of at most 4 KiB, each written at once:
//
//	perflab-payload begin id=<8 hex> version=2 parts=<n> bytes=<length of body> sha256=<64 hex>
//	perflab-payload part id=<8 hex> <k>/<n> <base64>
//	perflab-payload end id=<8 hex>
//
// Parts count from 1 and each is the standard base64 (RFC 4648, padded) of the next 2976
// bytes of the body. The id is the beginning of the checksum. Anything may stand between
// these lines, and before one on the same line (a time stamp, say); nothing follows one on
// its line.
//
// A log may hold many payloads: checkpoints ("final":false) while the test runs and a final
// one at its end, each covering the whole test so far. Checkpoints may leave the requests
// out. [Read] takes the last valid final payload, or else the last valid checkpoint. A log
// whose beginning is missing may start in the middle of a payload; that one is damaged and
// never counts.
//
// # What was logged
//
// A load generator that ends may tell once more what it logged last, at most [MaxLogLines]
// lines with [MaxLogBytes] of text, without the secrets of its environment:
//
//	perflab-log {"level":"error","text":"cannot log in as ***"}
//
// [ReadLog] finds them.
package payload
