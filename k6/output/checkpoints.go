// SPDX-License-Identifier: AGPL-3.0-only

package output

import "time"

// checkpointBudget is the approximate size, in bytes, of the checkpoints that are printed while
// the test's age increases by a factor of e (2.7). It keeps the log of a day's test under 10 MiB.
// At that size, a kubelet rotates a log by default, and the API server can't read rotated logs.
const checkpointBudget = 1 << 20

// spacing returns the time to the next checkpoint, after one of this age and size. It is the
// configured time while checkpoints are small, and a share of the test's age later.
func spacing(every, age time.Duration, size int) time.Duration {
	return max(every, time.Duration(float64(age)*float64(size)/checkpointBudget))
}
