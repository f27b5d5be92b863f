// SPDX-License-Identifier: Apache-2.0

package releases

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/internal/text/redact"
)

// maxDifferences limits the differences described for a change.
const maxDifferences = 20

// differences describes what differs between the point before a change and the first point
// after it: declared settings and the observed environment.
func (s *Series) differences(at int) []string {
	before, after := &s.Points[at-1], &s.Points[at]
	var all []string
	declared, unreadable := before.settings()
	next, unreadableNext := after.settings()
	if unreadable != nil || unreadableNext != nil {
		all = append(all, "declared settings: unreadable")
		declared, next = nil, nil
	}
	for _, one := range arms.CompareSettings(declared, next) {
		all = append(all, changedSetting(one.Setting, one.Baseline, one.Arm))
	}
	old, now := before.environment(), after.environment()
	for _, name := range slices.Sorted(maps.Keys(now)) {
		// A fact known on one side only was not recorded on the other.
		if old[name] != "" && now[name] != "" && old[name] != now[name] {
			all = append(all, changedSetting(name, old[name], now[name]))
		}
	}
	if more := len(all) - maxDifferences; more > 0 {
		all = append(all[:maxDifferences], "and "+prose.Counted(more, "more difference"))
	}
	return all
}

// settings that were declared for the point's arm. They are decoded only here because they are
// large, and few points are next to a change.
func (p *Point) settings() (map[string]string, error) {
	return p.measurements.settings.settings(p.armIndex)
}

func (p *Point) environment() map[string]string { return p.measurements.Arms[p.armIndex].Environment }

// changedSetting describes a difference without secrets, because it may leave the cluster.
func changedSetting(what, before, after string) string {
	return fmt.Sprintf("%s: %s → %s", what, cmp.Or(redact.Hide(what, before), "not set"), cmp.Or(redact.Hide(what, after), "not set"))
}

// armEnvironment is the environment of an arm's first valid run: versions, nodes and images
// that may change although they are not declared.
func armEnvironment(runs []v1alpha1.PerfRun, arm string) map[string]string {
	facts := map[string]string{}
	at := slices.IndexFunc(runs, func(run v1alpha1.PerfRun) bool {
		return run.Spec.Arm == arm && run.Status.Phase == v1alpha1.RunSucceeded
	})
	if at < 0 {
		return facts
	}
	status := &runs[at].Status
	if effective := status.Effective; effective != nil {
		facts["Kafka's version"] = effective.KafkaVersion
		var types []string
		for _, node := range effective.Nodes {
			types = append(types, cmp.Or(node.InstanceType, "a node without an instance type"))
		}
		slices.Sort(types)
		facts["nodes"] = strings.Join(slices.Compact(types), ", ")
		for _, module := range effective.Modules {
			facts[module.Name+"'s image"] = shortDigest(module.ImageID)
			if module.Heap != nil {
				facts[module.Name+"'s heap"] = module.Heap.String()
			}
			facts[module.Name+"'s garbage collector"] = module.Collector
		}
	}
	if evidence := status.Evidence; evidence != nil {
		facts["PerfLab"] = evidence.Versions.PerfLab
		facts["Kubernetes"] = evidence.Versions.Kubernetes
		facts["Strimzi"] = evidence.Versions.Strimzi
		facts["CloudNativePG"] = evidence.Versions.CloudNativePG
		facts["k6"] = evidence.Versions.K6
	}
	return facts
}

// shortDigest abbreviates the digest of an image ID.
func shortDigest(imageID string) string {
	const shown = 12
	_, sum, found := strings.Cut(imageID, "sha256:")
	if !found || len(sum) < shown {
		return imageID
	}
	return "sha256:" + sum[:shown]
}
