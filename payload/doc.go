// SPDX-License-Identifier: Apache-2.0

// Package payload is the format in which a load test's results travel as lines
// of a log, from the load generator that writes them to the operator that
// reads them. This comment is the format's specification, version 1.
//
// # What it holds
//
// A payload holds, for one load of one run as one runner saw it, a histogram of
// durations per transaction, outcome and time bucket, and sums of counters per
// time bucket. Buckets lie on a grid that all runners share (unix seconds
// divided by the bucket width, a power of two), so that payloads add up without
// loss: [Merge] of the parts has the same percentiles as one payload over all
// samples. The bucket width doubles as the test lengthens, which bounds the
// size; grids of different width nest.
//
// # Body
//
// The body is JSON (RFC 8259), compressed with gzip (RFC 1952). [Marshal] gives
// exactly this, for a ConfigMap's binaryData.
//
//	{"version":1, "load":"cico", "run":"demo-0-base", "runner":"tr-1",
//	 "start":"2026-01-02T03:04:05.678Z", "end":"…", "bucketSeconds":4, "final":true,
//	 "series":[{"transaction":"Check-In","outcome":"ok","buckets":[bucket,…]}],
//	 "counters":[{"name":"http_reqs","buckets":[[index,sum],…]}]}
//
// A bucket is an array of integers
//
//	[index, count, sum, min, max, step, n, step, n, …]
//
// with sum, min and max in nanoseconds, exact. Each pair (step, n) says that the
// histogram cell step further than the previous one (the first counts from 0)
// holds n samples; empty cells are left out. Cells number whole microseconds as
// an HdrHistogram of three significant digits does: cell c below 2048 is the
// value c; from there on each doubling of the value has 1024 cells, so that
// with s = c/1024 - 1 cell c begins at (c - 1024·s)·2^s and is 2^s wide. A
// duration is rounded to the nearest microsecond and is at most a week.
//
// Buckets are sorted by index, and each index, transaction with outcome, and
// counter name occurs once.
//
// # Frame
//
// [Write] puts a body into a log as lines of at most 4 KiB, each written at once:
//
//	perflab-payload begin id=<8 hex> version=1 parts=<n> bytes=<length of body> sha256=<64 hex>
//	perflab-payload part id=<8 hex> <k>/<n> <base64>
//	perflab-payload end id=<8 hex>
//
// Parts count from 1 and each is the standard base64 (RFC 4648, padded) of the
// next 2976 bytes of the body. The id is the beginning of the checksum. Anything may stand between these lines, and in
// front of one on the same line (a time stamp, say); nothing follows one on its line.
//
// A log may hold many payloads: checkpoints ("final":false) while the test runs
// and a final one at its end, each covering the whole test so far. [Read] takes
// the last valid final payload, or else the last valid checkpoint.
package payload
