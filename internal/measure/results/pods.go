// SPDX-License-Identifier: Apache-2.0

package results

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
)

const (
	// modulePrefix begins the components that are modules.
	modulePrefix = metric.Module + "/"
	// maxModulePods limits the listed pods of a module, maxPods those of all modules.
	maxModulePods = 16
	maxPods       = 200
	// unevenFactor: a pod that uses more than this times the mean of the module's other pods has an
	// uneven share.
	unevenFactor = 2
	// littleCPU is the use of a module, in cores, below which an uneven share does not matter.
	littleCPU = 0.1
	// minCoverage is the share of samples that a pod needs to count as running all the time: a
	// later one has no share in earlier work.
	minCoverage = 0.8
	// shareSpan is the shortest time over which pods are compared. The metrics API reports ten to
	// fifteen seconds of each pod, at different times and some twice: over half a minute, one pod
	// may show its start and another the load.
	shareSpan = 2 * time.Minute
)

// podUse is the resource use of a pod in a window.
type podUse struct {
	name, node  string
	cpu, memory payload.Points
}

// Pods returns the use of each pod of modules with several pods, sorted by module and name, and a
// sentence for each pod with an uneven share.
func Pods(samples *payload.Samples, window Window) (pods []v1alpha1.PodUse, uneven []string) {
	modules := modulePods(samples, window)
	for _, module := range slices.Sorted(maps.Keys(modules)) {
		own := modules[module]
		if len(own) < 2 {
			continue
		}
		for i, pod := range own[:min(len(own), maxModulePods)] {
			pods = append(pods, v1alpha1.PodUse{
				Name: fmt.Sprintf("%s/pod-%d", module, i+1), Pod: pod.name, Node: pod.node,
				CPU: formatAverage(pod.cpu), Memory: formatAverage(pod.memory),
			})
		}
		if sentence := unevenShare(strings.TrimPrefix(module, modulePrefix), own); sentence != "" {
			uneven = append(uneven, sentence)
		}
	}
	return pods[:min(len(pods), maxPods)], uneven
}

// PodShare is the busiest pod's share of its module's CPU use.
type PodShare struct {
	Percent float64
	Pods    int
}

// PodShares summarizes the uses that Pods returned, by module.
func PodShares(pods []v1alpha1.PodUse) map[string]PodShare {
	cores := map[string][]float64{}
	for _, pod := range pods {
		if used, err := decimal.Parse(cmp.Or(pod.CPU, "0")); err == nil {
			module, _ := metric.CutStatistic(strings.TrimPrefix(pod.Name, modulePrefix))
			cores[module] = append(cores[module], used)
		}
	}
	shares := map[string]PodShare{}
	for module, own := range cores {
		all := 0.0
		for _, used := range own {
			all += used
		}
		if all > 0 {
			shares[module] = PodShare{100 * slices.Max(own) / all, len(own)}
		}
	}
	return shares
}

func formatAverage(points payload.Points) string {
	if len(points) == 0 {
		return ""
	}
	return decimal.Format(mean(points))
}

// modulePods returns the pods with data in a window, by module, sorted by name.
func modulePods(samples *payload.Samples, window Window) map[string][]podUse {
	nodes := map[string]string{}
	for _, container := range samples.Containers {
		nodes[podName(container.Instance)] = container.Node
	}
	type key struct{ module, pod string }
	found := map[key]podUse{}
	for of, series := range podSeries(samples) {
		points := within(sumSeries(series, false), window)
		if len(points) == 0 {
			continue
		}
		at := key{of.module, of.pod}
		pod := found[at]
		pod.name, pod.node = of.pod, nodes[of.pod]
		if of.resource == metric.CPU {
			pod.cpu = points
		} else {
			pod.memory = points
		}
		found[at] = pod
	}
	sorted := map[string][]podUse{}
	for at, pod := range found {
		sorted[at.module] = append(sorted[at.module], pod)
	}
	for _, pods := range sorted {
		slices.SortFunc(pods, func(a, b podUse) int { return cmp.Compare(a.name, b.name) })
	}
	return sorted
}

type podResource struct{ module, pod, resource string }

// podSeries returns the CPU and memory series of the modules' containers.
func podSeries(samples *payload.Samples) map[podResource][]payload.SampleSeries {
	series := map[podResource][]payload.SampleSeries{}
	for _, one := range samples.Series {
		isUse := one.Resource == metric.CPU || one.Resource == metric.Memory
		if isUse && strings.HasPrefix(one.Component, modulePrefix) {
			at := podResource{one.Component, podName(one.Instance), one.Resource}
			series[at] = append(series[at], one)
		}
	}
	return series
}

// unevenShare describes a pod that used more than twice the average of the module's others;
// empty if none did, all used little, or the data is insufficient.
func unevenShare(module string, pods []podUse) string {
	longest := 0
	for _, pod := range pods {
		longest = max(longest, len(pod.cpu))
	}
	var (
		busiest      podUse
		highest, all float64
		count        int
	)
	for _, pod := range pods {
		if length(pod.cpu) < shareSpan || float64(len(pod.cpu)) < minCoverage*float64(longest) {
			continue
		}
		// The first sample covers time before the window.
		used := mean(pod.cpu[1:])
		count++
		all += used
		if used > highest {
			busiest, highest = pod, used
		}
	}
	if count < 2 || all < littleCPU || highest <= unevenFactor*(all-highest)/float64(count-1) {
		return ""
	}
	return fmt.Sprintf("pod %s took %s %% of the CPU of module %q (%s cores in %s), more than twice the average of its other pods: the load is not shared evenly; check for connections that stay open, and for topics with fewer partitions than pods",
		busiest.name, decimal.Format(math.Round(100*highest/all)), module, decimal.Format(all), prose.Counted(count, "pod"))
}
