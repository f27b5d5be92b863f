// SPDX-License-Identifier: Apache-2.0

// Package payload defines the format in which a load generator writes the results of a load test
// as lines of its log, and in which the operator reads them. This comment is the specification of
// version 2 of the format.
//
// # Contents
//
// A payload holds, for one load of one run as one runner measured it:
//
//   - a histogram of durations per row and time bucket. A row is a transaction
//     of one scenario with one outcome, or a request within a transaction, with
//     one outcome and status class;
//   - sums of counters per time bucket;
//   - the last and the highest value of gauges.
//
// Buckets lie on a grid that all runners share (Unix seconds divided by the bucket width, a power
// of two). Payloads therefore add up without loss: [Merge] of the parts has the same percentiles
// as one payload of all samples. The bucket width doubles as the test gets longer, which limits
// the size. Grids of different widths nest. There are many rows of requests, so their buckets are
// wider than those of transactions and counters. A time window selects them less exactly, see
// [Payload.Between].
//
// # Body
//
// The body is JSON (RFC 8259), compressed with gzip (RFC 1952). [Marshal] returns exactly this,
// for a ConfigMap's binaryData.
//
//	{"version":2, "load":"cico", "run":"demo-0-base", "runner":"tr-1", "generator":"k6 v2.2.0",
//	 "start":"2026-01-02T03:04:05.678Z", "end":"…", "bucketSeconds":4, "requestBucketSeconds":64, "final":true,
//	 "series":[
//	   {"scenario":"cico", "transaction":"Check-In", "outcome":"ok", "buckets":[bucket,…]},
//	   {"scenario":"cico", "transaction":"Check-In", "request":"GET /users", "outcome":"ok", "status":"2xx", "buckets":[bucket,…]}],
//	 "counters":[{"name":"http_reqs", "buckets":[[index,sum],…]}],
//	 "gauges":[{"name":"vus", "last":20, "max":75}]}
//
// "generator" is the name and version of the load generator. It is optional.
//
// A series without "request" is the transaction itself. "outcome" is "ok" or "error". Only
// requests have a "status": "1xx" to "5xx", or "error" if there was no response. The transaction
// of a request outside of transactions is "".
//
// The counter "perflab_user_seconds" increases each second by the number of users. Divided by the
// seconds of a bucket, it is the average number of users. A load generator that does not record
// users omits it.
//
// A bucket is an array
//
//	[index, count, sum, min, max, first, "cells"]
//
// with sum, min and max in nanoseconds, exact. The text has the number of samples in each cell of
// the histogram, starting at the cell first. The last digit of a number is one of 32 (# to B),
// and the digits before it are of 24 (C to Z): "#" is 0, "B" is 31, "D#" is 32 and "DB" is 63. A
// single character replaces empty cells between others: "]" stands for one, the next character
// for two, and so on to "~" for 34.
//
// Cell 0 holds durations below 1 µs. Each cell c after it starts at 1.002^(c-1) µs and ends where
// the next cell starts. Each value in a cell is within 0.1 % of 1.002/1.001 times the cell's
// start. A duration above a week counts as a week, in the histogram only.
//
// The buckets of a series are sorted by index. Each index, row, counter and gauge occurs once.
//
// # Frame
//
// [Write] writes a body to a log as lines of at most 4 KiB, each in one write:
//
//	perflab-payload begin id=<8 hex> version=2 parts=<n> bytes=<length of body> sha256=<64 hex>
//	perflab-payload part id=<8 hex> <k>/<n> <base64>
//	perflab-payload end id=<8 hex>
//
// Parts count from 1. Each is the standard base64 (RFC 4648, padded) of the next 2976 bytes of
// the body. The id is the first 8 digits of the checksum. Other text may stand between these
// lines, and before one on the same line, for example a timestamp. Nothing follows one on its
// line.
//
// A log may hold many payloads: checkpoints ("final":false) while the test runs and a final one
// at its end. Each covers the whole test so far. Checkpoints may omit the requests. [Read]
// returns the last valid final payload, or else the last valid checkpoint. A log whose start is
// missing may start in the middle of a payload. That payload is damaged, and Read skips it.
//
// # Repeated log lines
//
// A load generator that ends may repeat the last lines that it logged: at most [MaxLogLines]
// lines with [MaxLogBytes] of text, without the secrets of its environment:
//
//	perflab-log {"level":"error","text":"cannot log in as ***"}
//
// [ReadLog] returns them.
package payload
