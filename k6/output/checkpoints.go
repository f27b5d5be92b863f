// SPDX-License-Identifier: AGPL-3.0-only

package output

import "time"

// checkpointBudget is about the size, in bytes, of the checkpoints that are printed while
// the test's age multiplies by e (2.7). It keeps the log of a day's test under 10 MiB, at
// which a kubelet rotates it by default: the API server can't read rotated logs.
const checkpointBudget = 1 << 20

// spacing returns the time to the next checkpoint after one of this age and size: the
// configured one while checkpoints are small, a share of the test's age later.
func spacing(every, age time.Duration, size int) time.Duration {
	return max(every, time.Duration(float64(age)*float64(size)/checkpointBudget))
}
