// SPDX-License-Identifier: Apache-2.0

package importers

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"perflab.dev/perflab/internal/measure/metric"
)

// gatlingStats reads js/stats.json of a Gatling report.
type gatlingStats struct{}

func (gatlingStats) Name() string  { return "gatling-stats" }
func (gatlingStats) Tool() string  { return "Gatling" }
func (gatlingStats) Reads() string { return "js/stats.json of a Gatling 3 report" }

// gatlingNode is all requests, a group, or a request.
type gatlingNode struct {
	Type     string                 `json:"type"`
	Name     string                 `json:"name"`
	Path     string                 `json:"path"`
	Stats    *gatlingNumbers        `json:"stats"`
	Contents map[string]gatlingNode `json:"contents"`
}

type gatlingNumbers struct {
	Requests gatlingTriple `json:"numberOfRequests"`
	Max      gatlingTriple `json:"maxResponseTime"`
	Mean     gatlingTriple `json:"meanResponseTime"`
	P50      gatlingTriple `json:"percentiles1"`
	P75      gatlingTriple `json:"percentiles2"`
	P95      gatlingTriple `json:"percentiles3"`
	P99      gatlingTriple `json:"percentiles4"`
	Rate     gatlingTriple `json:"meanNumberOfRequestsPerSecond"`
}

// gatlingTriple is a number for all, successful and failed requests.
type gatlingTriple struct {
	Total jsonNumber `json:"total"`
	OK    jsonNumber `json:"ok"`
	KO    jsonNumber `json:"ko"`
}

func (gatlingStats) Read(from Source) (*Measured, error) {
	var root gatlingNode
	if err := decode(from, &root, "a Gatling stats.json"); err != nil {
		return nil, err
	}
	if root.Stats == nil {
		return nil, refuse(`"stats" is missing: use js/stats.json of the report, not assertions.json or stats.js, which is not JSON`)
	}
	found := observationList{}
	all := int64(parseNumber(root.Stats.Requests.Total))
	if all > 0 {
		found.add(from.Load, metric.RequestsPerSecond, root.Stats.Rate.Total.value, all)
	}
	nodes := map[string]*gatlingNumbers{requests: root.Stats}
	root.collect(nodes)
	paths := slices.Sorted(maps.Keys(nodes))
	names := distinct(paths, func(node string) string { return pathName(gatlingNames(node)) })
	for _, path := range paths {
		addGatling(&found, &from, names[path], nodes[path])
	}
	made, err := found.measured("the file")
	if err != nil {
		return nil, err
	}
	made.Samples = all
	made.Notes = append(made.Notes, "percentiles are assumed to be Gatling's defaults (50, 75, 95 and 99): gatling.charting.indicators can change them, but the file does not record it")
	return made, nil
}

// collect collects groups and requests, by kind and path, whose separators are slashes
// between spaces.
func (n *gatlingNode) collect(into map[string]*gatlingNumbers) {
	for _, inner := range n.Contents {
		if inner.Stats != nil {
			into[inner.Type+"\t"+cmp.Or(inner.Path, inner.Name)] = inner.Stats
		}
		inner.collect(into)
	}
}

// gatlingNames returns the names of a group or request and of its parent groups.
func gatlingNames(node string) []string {
	_, path, found := strings.Cut(node, "\t")
	if !found {
		return []string{node}
	}
	return strings.Split(path, " / ")
}

func addGatling(to *observationList, from *Source, name string, stats *gatlingNumbers) {
	if !from.wants(name) {
		return
	}
	of := metric.Name(from.Load, name)
	all, failed := parseNumber(stats.Requests.Total), parseNumber(stats.Requests.KO)
	if all == 0 {
		to.empty = append(to.empty, name)
		return
	}
	share := 100 * failed / all
	to.add(of, metric.Samples, stats.Requests.Total.value, 0)
	to.add(of, metric.Errors, &share, int64(all))
	worked := int64(parseNumber(stats.Requests.OK))
	for _, one := range []struct {
		statistic string
		number    gatlingTriple
	}{{metric.Average, stats.Mean}, {metric.P50, stats.P50}, {metric.P75, stats.P75}, {metric.P95, stats.P95}, {metric.P99, stats.P99}, {metric.Max, stats.Max}} {
		if worked > 0 {
			to.add(of, one.statistic, one.number.OK.value, worked)
		}
	}
}

func parseNumber(number jsonNumber) float64 {
	if number.value == nil {
		return 0
	}
	return *number.value
}
