// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// Some families of tests try each of many cases. They are tested whole by make test-whole;
// otherwise a third of each is, another third with another seed.
var (
	whole = os.Getenv("PERFLAB_TEST_WHOLE") != ""
	seed  = sampleSeed()
)

// sampleSeed is PERFLAB_TEST_SEED, or one of today's.
func sampleSeed() int {
	if told, err := strconv.Atoi(os.Getenv("PERFLAB_TEST_SEED")); err == nil {
		return told
	}
	return int(time.Now().Unix())
}

// drawn says whether the nth case of a family is tested.
func drawn(n int) bool { return whole || (n+seed)%3 == 0 }

// sample is what is tested of a family.
func sample[Case any](t *testing.T, cases []Case) []Case {
	t.Helper()
	var chosen []Case
	for n, one := range cases {
		if drawn(n) {
			chosen = append(chosen, one)
		}
	}
	if len(chosen) < len(cases) {
		t.Logf("%d of %d cases: PERFLAB_TEST_SEED=%d draws them again, PERFLAB_TEST_WHOLE=1 tests all", len(chosen), len(cases), seed)
	}
	return chosen
}
