// SPDX-License-Identifier: AGPL-3.0-only

package start

// spareBytes is how much garbage k6 may hold beyond what Go lets it.
const spareBytes = 32 << 20

// spare is memory that is never used and so takes no room, but counts as used by
// Go's collector, which lets as much garbage gather before it works. A script's few
// MiB are otherwise looked through many times a second, which takes a third of k6's
// work and is part of the response times it measures. Nil for who has told Go
// himself how to collect: it would count toward GOMEMLIMIT.
func spare(environment map[string]string) []byte {
	if environment["GOGC"] != "" || environment["GOMEMLIMIT"] != "" {
		return nil
	}
	return make([]byte, spareBytes)
}
