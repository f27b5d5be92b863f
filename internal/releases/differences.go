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

// mostDifferences are told of one change.
const mostDifferences = 20

// differences between the point before a change and the first after it: what is
// declared for the arm, and what really ran.
func (s *Series) differences(at int) []string {
	before, after := &s.Points[at-1], &s.Points[at]
	var all []string
	declared, unreadable := before.settings()
	next, unreadableNext := after.settings()
	if unreadable != nil || unreadableNext != nil {
		all = append(all, "what is declared, which can't be read")
		declared, next = nil, nil
	}
	for _, one := range arms.CompareSettings(declared, next) {
		all = append(all, told(one.Setting, one.Baseline, one.Arm))
	}
	old, now := before.met(), after.met()
	for _, name := range slices.Sorted(maps.Keys(now)) {
		// What is known of one side only was not recorded on the other.
		if old[name] != "" && now[name] != "" && old[name] != now[name] {
			all = append(all, told(name, old[name], now[name]))
		}
	}
	if more := len(all) - mostDifferences; more > 0 {
		all = append(all[:mostDifferences], "and "+prose.Counted(more, "further difference"))
	}
	return all
}

// settings that were declared for the point's arm. They are read here and not when all is:
// they are long, and few points are beside a change.
func (p *Point) settings() (map[string]string, error) { return p.measured.systems.settings(p.arm) }

func (p *Point) met() map[string]string { return p.measured.Arms[p.arm].Met }

// told is passed on, and may leave the cluster: what looks secret is not in it.
func told(what, before, after string) string {
	return fmt.Sprintf("%s: %s → %s", what, cmp.Or(redact.Hide(what, before), "not set"), cmp.Or(redact.Hide(what, after), "not set"))
}

// met is what the first run of an arm that counts met: what may change though
// nobody declared it.
func met(runs []v1alpha1.PerfRun, arm string) map[string]string {
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
			facts[module.Name+"'s image"] = digest(module.ImageID)
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

// digest is the part of an image's ID by which people tell it.
func digest(imageID string) string {
	const told = 12
	_, sum, found := strings.Cut(imageID, "sha256:")
	if !found || len(sum) < told {
		return imageID
	}
	return "sha256:" + sum[:told]
}
