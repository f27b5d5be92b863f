// SPDX-License-Identifier: AGPL-3.0-only

package start

// spareBytes is the additional garbage that Go's collector tolerates.
const spareBytes = 32 << 20

// spare returns unused memory, which takes no physical memory but counts as used by Go's
// garbage collector, so that it collects less often. It would otherwise scan a script's few
// MiB many times a second, which takes a third of k6's CPU time and affects the measured
// response times. It is nil if the user configures Go's collector: it would count toward
// GOMEMLIMIT.
func spare(environment map[string]string) []byte {
	if environment["GOGC"] != "" || environment["GOMEMLIMIT"] != "" {
		return nil
	}
	return make([]byte, spareBytes)
}
