// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/interp"

	"perflab.dev/perflab/internal/inference/capacity"
)

// loaded is a system with a capacity of 1. It visits loads in order and returns the margins of
// its objectives at each.
type loaded struct {
	name  string
	visit func(loads []float64, random *rand.Rand) [][]float64
}

// window returns the latency measured at a load, in multiples of the limit.
type window func(load float64, random *rand.Rand) float64

// memoryless is a system in which no level has an effect on the next.
func memoryless(name string, objectives ...window) loaded {
	return loaded{name, func(loads []float64, random *rand.Rand) [][]float64 {
		margins := make([][]float64, len(loads))
		for i, load := range loads {
			for _, measure := range objectives {
				margins[i] = append(margins[i], capacity.Margin(measure(load, random), 1, capacity.Max))
			}
		}
		return margins
	}}
}

// disturb adds noise to the latency of a window: random variation, and garbage collection in a
// tenth of the windows.
func disturb(latency, deviation float64, random *rand.Rand) float64 {
	latency *= math.Exp(deviation * random.NormFloat64())
	if random.Float64() < 0.1 {
		latency *= math.Exp(0.3 * random.ExpFloat64())
	}
	return latency
}

// curve returns a window whose latency depends only on the load.
func curve(latency func(load float64) float64) window {
	return func(load float64, random *rand.Rand) float64 { return disturb(latency(load), 0.05, random) }
}

// queue returns the 95th percentile of latency of an M/M/c queue. The limit is a multiple of
// the percentile of the idle system. If the queue grows without bound, latency grows with the
// length of the window.
func queue(servers int, limit float64) window {
	const points, busiest, window = 400, 0.99, 600
	utilization, latency := make([]float64, points), make([]float64, points)
	at := 0.0
	for i := range points {
		utilization[i] = 0.01 + (busiest-0.01)*float64(i)/(points-1)
		latency[i] = waitingP95(servers, utilization[i])
		if latency[i] <= limit*latency[0] {
			at = utilization[i]
		}
	}
	var known interp.PiecewiseLinear
	if err := known.Fit(utilization, latency); err != nil {
		panic(err)
	}
	allowed := known.Predict(at)
	return func(load float64, random *rand.Rand) float64 {
		busy := at * load
		// The longer requests wait, the more they depend on each other.
		deviation := 0.02 / (1 - math.Min(busy, 0.9))
		return disturb((known.Predict(busy)+window*math.Max(0, busy-busiest))/allowed, deviation, random)
	}
}

// waitingP95 returns the 95th percentile of the time in an M/M/c queue, in service times (Gross
// and others, Fundamentals of Queueing Theory, chapter 3).
func waitingP95(servers int, utilization float64) float64 {
	offered := utilization * float64(servers)
	blocked := 1.0
	for k := 1; k <= servers; k++ {
		blocked = offered * blocked / (float64(k) + offered*blocked)
	}
	waits := blocked / (1 - utilization*(1-blocked))
	idle := float64(servers) - 1 - offered
	isLater := func(time float64) float64 {
		queued := time
		if math.Abs(idle) > 1e-9 {
			queued = -math.Expm1(-time*idle) / idle
		}
		return math.Exp(-time) * (1 + waits*queued)
	}
	low, high := 0.0, 1e4
	for range 60 {
		if middle := (low + high) / 2; isLater(middle) > 0.05 {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// cliff fails abruptly above the capacity, such as when connections run out.
func cliff(load float64) float64 {
	if load <= 1 {
		return 0.5
	}
	return 20
}

// plateau reaches 90 % of the limit at half the capacity, and stays there up to the capacity.
func plateau(load float64) float64 {
	if load > 0.5 && load <= 1 {
		return 0.9
	}
	return cliff(load)
}

// steep is a latency that reaches the limit at the capacity, and twice the limit soon after.
func steep(load float64) float64 { return 0.5 + 0.5*math.Pow(load, 4) }

// cold fails at the lowest loads, where caches are empty.
func cold(load float64) float64 {
	if load < 0.2 {
		return 1.15
	}
	return steep(load)
}

// bump fails between 50 and 60 % of the capacity, and holds above.
func bump(load float64) float64 {
	if load > 0.5 && load < 0.6 {
		return 1.15
	}
	return steep(load)
}

// dropped returns the dropped iterations, which start at the capacity. None are allowed.
func dropped(load float64, random *rand.Rand) float64 {
	return math.Max(0, load-1+0.02*random.NormFloat64())
}

// strict adds an objective with a limit of 0 to a system.
func strict(system loaded, measure window) loaded {
	return loaded{system.name, func(loads []float64, random *rand.Rand) [][]float64 {
		margins := system.visit(loads, random)
		for i, load := range loads {
			margins[i] = append(margins[i], capacity.Margin(measure(load, random), 0, capacity.Max))
		}
		return margins
	}}
}

// events simulates each request of a queue with 8 servers. Service times are lognormal, with a
// deviation equal to their mean. Garbage collection stops the servers for 2 service times,
// every 50. A level has settling and measured requests. Requests that wait at the end of a
// level still wait at the start of the next.
type events struct{ settling, measured int }

const (
	eventServers = 8
	// eventUtilization is the utilization at which half of the windows exceed eventLimit.
	eventUtilization = 0.9
	eventLimit       = 5.8
)

func (e events) visit(loads []float64, random *rand.Rand) [][]float64 {
	margins := make([][]float64, len(loads))
	var now, pause float64
	free := make([]float64, eventServers)
	for i, load := range loads {
		var latencies []float64
		for request := range e.settling + e.measured {
			now += random.ExpFloat64() / (eventServers * eventUtilization * load)
			finished := serve(now, &pause, free, random)
			if request >= e.settling {
				latencies = append(latencies, finished-now)
			}
		}
		slices.Sort(latencies)
		margins[i] = []float64{capacity.Margin(latencies[len(latencies)*95/100], eventLimit, capacity.Max)}
	}
	return margins
}

// serve runs a request on the first free server and returns the time when it is finished.
func serve(now float64, pause *float64, free []float64, random *rand.Rand) float64 {
	const length, interval, sigma = 2, 50, 0.8326
	first := 0
	for server := range free {
		if free[server] < free[first] {
			first = server
		}
	}
	start := math.Max(now, free[first])
	for start > *pause+length {
		*pause += length + interval*random.ExpFloat64()
	}
	finished := start + math.Exp(sigma*random.NormFloat64()-sigma*sigma/2)
	if finished > *pause {
		finished += length - math.Max(0, start-*pause)
	}
	free[first] = finished
	return finished
}
