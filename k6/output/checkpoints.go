// SPDX-License-Identifier: AGPL-3.0-only

package output

import "time"

// checkpointBudget is about what checkpoints may print while the test's age
// multiplies by e (2.7), in bytes. It keeps the log of a day's test under the
// 10 MiB at which a kubelet rotates it by default: with rotation what was
// printed before is out of an API server's reach.
const checkpointBudget = 1 << 20

// spacing is the time from a checkpoint, printed at the given age of the test and
// of so many bytes, to the next: the configured one while checkpoints are small,
// a share of the test's age later.
func spacing(every, age time.Duration, size int) time.Duration {
	return max(every, time.Duration(float64(age)*float64(size)/checkpointBudget))
}
