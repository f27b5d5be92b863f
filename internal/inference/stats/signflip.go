// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

const (
	// exactFlips is the largest number of differences for which all sign flips are counted.
	exactFlips = 20
	// sampledFlips is the number of samples beyond that. Their error at p = 0.05 is 0.002.
	sampledFlips = 9999
)

// SignFlip returns the two-sided p-value of the Fisher-Pitman permutation test for paired samples
// (Fisher, The Design of Experiments, 1935, section 21): the share of sign patterns for which the
// absolute sum of the differences is at least the observed one. It only assumes that a difference
// is as likely in one direction as in the other. Up to 20 differences all 2^n patterns are counted;
// beyond, 9999 are sampled with the seed and the observed one is added (Phipson and Smyth 2010).
// NaN without differences.
func SignFlip(differences []float64, seed uint64) float64 {
	if len(differences) == 0 {
		return math.NaN()
	}
	var sum, size float64
	smallest := math.Inf(1)
	for _, difference := range differences {
		sum += difference
		size += math.Abs(difference)
		smallest = math.Min(smallest, math.Abs(difference))
	}
	// Sums that differ only by rounding are equal.
	rounding := 1e-10 * size
	bound := math.Abs(sum) - rounding
	if len(differences) > exactFlips {
		return sampledShare(differences, bound, seed)
	}
	if size-math.Abs(sum) < rounding && 2*smallest > rounding {
		// All have the same sign: only the observed pattern and its mirror image reach as far.
		return math.Ldexp(2, -len(differences))
	}
	return exactShare(differences, bound)
}

// exactShare splits the differences in two halves. With the sums of each half in order, it counts
// the pairs beyond the bound in one walk, which takes 2^(n/2) steps instead of 2^n.
func exactShare(differences []float64, bound float64) float64 {
	if bound <= 0 {
		return 1
	}
	half := len(differences) / 2
	left, right := signedSums(differences[:half]), signedSums(differences[half:])
	beyond, reach := 0, len(right)
	// As the left sum grows, more of the right sums reach the bound.
	for _, sum := range left {
		for reach > 0 && sum+right[reach-1] >= bound {
			reach--
		}
		beyond += len(right) - reach
	}
	// The mirror image of each pattern beyond the bound is below minus it.
	return math.Ldexp(float64(2*beyond), -len(differences))
}

// signedSums returns the sums of the values under all sign patterns, in order.
func signedSums(values []float64) []float64 {
	sums := []float64{0}
	for _, value := range values {
		step := math.Abs(value)
		next := make([]float64, 0, 2*len(sums))
		down, up := 0, 0
		for down < len(sums) {
			if sums[down]-step <= sums[up]+step {
				next = append(next, sums[down]-step)
				down++
			} else {
				next = append(next, sums[up]+step)
				up++
			}
		}
		for ; up < len(sums); up++ {
			next = append(next, sums[up]+step)
		}
		sums = next
	}
	return sums
}

// sampledShare samples the signs of eight differences at a time: their sum under each of the 256
// patterns is computed once.
func sampledShare(differences []float64, bound float64, seed uint64) float64 {
	var quads [][4][256]float64
	for first := 0; first < len(differences); first += 32 {
		quads = append(quads, patterns(differences[first:min(first+32, len(differences))]))
	}
	random := rand.NewPCG(seed, 0x5fa1e0)
	beyond := 1
	// Each random word holds the signs of two quads.
	var word uint64
	second := false
	for range sampledFlips {
		var sum float64
		for i := range quads {
			if second {
				word >>= 32
			} else {
				word = random.Uint64()
			}
			second = !second
			quad, signs := &quads[i], uint32(word)
			sum += quad[0][signs&0xff] + quad[1][signs>>8&0xff] + quad[2][signs>>16&0xff] + quad[3][signs>>24]
		}
		// Counting the sign bit avoids a branch, which would be mispredicted half of the time.
		beyond += 1 - int(math.Float64bits(math.Abs(sum)-bound)>>63)
	}
	return float64(beyond) / (sampledFlips + 1)
}

// patterns returns the sums of up to 32 values, eight by eight, under all signs. A set bit inverts
// the sign.
func patterns(values []float64) (sums [4][256]float64) {
	for group := range sums {
		eight := values[min(8*group, len(values)):min(8*group+8, len(values))]
		for _, value := range eight {
			sums[group][0] += value
		}
		// The pattern without its lowest bit is already there.
		for pattern := 1; pattern < 1<<len(eight); pattern++ {
			lowest := bits.TrailingZeros(uint(pattern))
			sums[group][pattern] = sums[group][pattern&(pattern-1)] - 2*eight[lowest]
		}
		for pattern := 1 << len(eight); pattern < 256; pattern++ {
			sums[group][pattern] = sums[group][pattern&(1<<len(eight)-1)]
		}
	}
	return sums
}
