// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/podrequests"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/planning/price"
	"perflab.dev/perflab/internal/text/prose"
)

// Cost is the minimum cost of an arm: the nodes, of the requested instance types, that its
// pods need by their requests.
type Cost struct {
	Arm string `json:"arm"`
	// Nodes by instance type.
	Nodes map[string]int `json:"nodes"`
	// PerHour of these nodes, and Total for the arm's runs; empty if a price, a size or the
	// time is unknown.
	PerHour  string `json:"perHour,omitempty"`
	Total    string `json:"total,omitempty"`
	Currency string `json:"currency"`
	// Unknown are instance types of unknown price or size.
	Unknown []string `json:"unknown,omitempty"`
	// Unplaced is the number of pods without a requested instance type; the cost excludes
	// them.
	Unplaced int `json:"unplaced,omitempty"`
}

// costs returns the cost of each arm; none without a price list. Without a duration there
// is no total.
func costs(spec *v1alpha1.PerfExperimentSpec, all []arms.Arm, prices map[string]string, lasting map[string]time.Duration) []Cost {
	if spec.Cost == nil || prices == nil {
		return nil
	}
	list, _ := price.Read(prices)
	var costs []Cost
	for _, arm := range all {
		costs = append(costs, newCost(arm, list, spec.Cost.CurrencyOrDefault(), lasting[arm.Name]))
	}
	return costs
}

func newCost(arm arms.Arm, list price.List, currency string, lasting time.Duration) Cost {
	cost := Cost{Arm: arm.Name, Currency: currency, Nodes: map[string]int{}}
	amounts, apart := map[string]*amount{}, map[string]int{}
	for _, group := range podrequests.ForSystem(arm.System) {
		instance := instanceType(group.Placement)
		if instance == "" {
			cost.Unplaced += group.Count
			continue
		}
		if amounts[instance] == nil {
			amounts[instance] = &amount{}
		}
		amounts[instance].add(group)
		apart[instance] = max(apart[instance], nodesApart(group))
	}
	sum := new(big.Rat)
	for _, instance := range slices.Sorted(maps.Keys(amounts)) {
		size, known := instanceSize(instance)
		each, priced := list[instance]
		if !known || !priced {
			cost.Unknown = append(cost.Unknown, instance)
			continue
		}
		count := max(amounts[instance].nodes(left(size)), apart[instance])
		cost.Nodes[instance] = count
		sum.Add(sum, new(big.Rat).Mul(each, big.NewRat(int64(count), 1)))
	}
	if len(cost.Unknown) == 0 && len(cost.Nodes) > 0 {
		cost.PerHour = written(sum)
	}
	if cost.PerHour != "" && lasting > 0 {
		hours := big.NewRat(int64(lasting/time.Second), 3600)
		cost.Total = hours.Mul(hours, sum).FloatString(2)
	}
	return cost
}

// nodesApart returns the number of nodes for pods that are spread over nodes: one each,
// which is the intent, though two per node would be as even.
func nodesApart(group podrequests.Pods) int {
	if group.Placement == nil {
		return 0
	}
	for _, spread := range group.Placement.TopologySpread {
		if spread.TopologyKey == corev1.LabelHostname && spread.WhenUnsatisfiable != corev1.ScheduleAnyway {
			return group.Count
		}
	}
	return 0
}

func written(sum *big.Rat) string {
	value, _ := sum.Float64()
	return strconv.FormatFloat(math.Round(value*1e6)/1e6, 'f', -1, 64)
}

func instanceType(placement *v1alpha1.Placement) string {
	if placement == nil {
		return ""
	}
	return placement.NodeSelector[corev1.LabelInstanceTypeStable]
}

// amount is a sum of requests, in CPUs and bytes.
type amount struct{ cpus, bytes float64 }

func (a *amount) add(group podrequests.Pods) {
	requested := func(name corev1.ResourceName) float64 {
		requested := group.Requested(name)
		return requested.AsApproximateFloat64() * float64(group.Count)
	}
	a.cpus += requested(corev1.ResourceCPU)
	a.bytes += requested(corev1.ResourceMemory)
}

// nodes returns the minimum number of nodes for the amount.
func (a *amount) nodes(of amount) int {
	return max(1, int(math.Ceil(a.cpus/of.cpus)), int(math.Ceil(a.bytes/of.bytes)))
}

// left returns a node's allocatable resources: the kernel takes some 3 % of the memory, and
// Amazon's Kubernetes images reserve 255 MiB, 11 MiB for each possible pod, and 100 MiB as
// the eviction threshold. The reserved percent of CPU is ignored.
func left(size amount) amount {
	const mebibyte = 1 << 20
	pods := 58.0
	switch {
	case size.cpus <= 2:
		pods = 29
	case size.cpus > 8:
		pods = 234
	}
	size.bytes = 0.97*size.bytes - (255+100+11*pods)*mebibyte
	return size
}

// sized matches EC2's general, compute and memory instance types, with or without a
// service's prefix: c7g.large, m6g.2xlarge.
var sized = regexp.MustCompile(`^([cmr])[0-9]+[a-z-]*\.(large|(?:([0-9]{1,3}))?xlarge)$`)

// instanceSize returns the capacity of an instance type by its name: large has two CPUs,
// xlarge four and Nxlarge N times four, with 2 (c), 4 (m) or 8 GiB (r) each. False for
// other names.
func instanceSize(instance string) (amount, bool) {
	parts := sized.FindStringSubmatch(instance)
	if parts == nil {
		return amount{}, false
	}
	cpus := 2.0
	if parts[2] != "large" {
		times := 1
		if parts[3] != "" {
			// The expression matches few digits, so they fit.
			times, _ = strconv.Atoi(parts[3])
		}
		cpus = float64(4 * times)
	}
	const gibibyte = 1 << 30
	return amount{cpus, cpus * map[string]float64{"c": 2, "m": 4, "r": 8}[parts[1]] * gibibyte}, true
}

// String formats the arm's cost.
func (c Cost) String() string {
	nodes := make([]string, 0, len(c.Nodes))
	for _, instance := range slices.Sorted(maps.Keys(c.Nodes)) {
		nodes = append(nodes, fmt.Sprintf("%d %s", c.Nodes[instance], instance))
	}
	text := "at least " + joined(nodes)
	switch {
	case len(c.Unknown) > 0:
		text = fmt.Sprintf("unknown: the price list does not include %s, or their size is unknown", joined(c.Unknown))
	case c.PerHour == "":
		return "unknown: no pod requests an instance type"
	default:
		text += fmt.Sprintf(", %s %s per hour", c.PerHour, c.Currency)
	}
	if c.Total != "" {
		text += fmt.Sprintf(", %s %s for its runs", c.Total, c.Currency)
	}
	if c.Unplaced > 0 {
		text += fmt.Sprintf("; %s without an instance type %s not counted", prose.Counted(c.Unplaced, "pod"), prose.Verb(c.Unplaced, "is", "are"))
	}
	return text
}

func joined(parts []string) string {
	text := ""
	for i, part := range parts {
		switch {
		case i == 0:
		case i == len(parts)-1:
			text += " and "
		default:
			text += ", "
		}
		text += part
	}
	return text
}
