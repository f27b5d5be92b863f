// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/internal/testing/rules"
)

// schedule returns a PerfSchedule with the valid experiment as its template.
func schedule(t *testing.T, changes ...change) *unstructured.Unstructured {
	t.Helper()
	made := rules.Schedule(t)
	made.SetNamespace("default")
	apply(t, made, changes...)
	return made
}

func TestScheduleRules(t *testing.T) {
	server.Config(t)
	for name, rule := range map[string]rule{
		"schedule and onImageChange":                 accept(),
		"only schedule":                              accept(change{"spec.onImageChange", ""}),
		"only onImageChange":                         accept(change{"spec.schedule", ""}, change{"spec.timeZone", ""}, change{"spec.startingDeadlineSeconds", ""}),
		"neither":                                    refuse("spec", "a schedule needs schedule (times in cron format), onImageChange (workloads to watch), or both", change{"spec.schedule", ""}, change{"spec.timeZone", ""}, change{"spec.startingDeadlineSeconds", ""}, change{"spec.onImageChange", ""}),
		"a time zone without schedule":               refuse("spec", "timeZone requires schedule", change{"spec.schedule", ""}, change{"spec.startingDeadlineSeconds", ""}),
		"a deadline without schedule":                refuse("spec", "startingDeadlineSeconds requires schedule", change{"spec.schedule", ""}, change{"spec.timeZone", ""}),
		"a deadline of 0":                            refuse("spec.startingDeadlineSeconds", "must be from 10 to 31536000", change{"spec.startingDeadlineSeconds", "9"}),
		"a name of 23 characters":                    accept(change{"metadata.name", strings.Repeat("a", 23)}),
		"a name of 24 characters":                    refuse("", "the schedule's name must be at most 23", change{"metadata.name", strings.Repeat("a", 24)}),
		"another policy":                             refuse("spec.concurrencyPolicy", `supported values: "Allow", "Forbid", "Replace"`, change{"spec.concurrencyPolicy", "Queue"}),
		"a DaemonSet":                                refuse("spec.onImageChange[0].kind", `supported values: "Deployment", "StatefulSet"`, change{"spec.onImageChange.0.kind", "DaemonSet"}),
		"a workload twice":                           refuse("spec.onImageChange", "onImageChange has a workload and container twice", change{"spec.onImageChange", "[{name: okapi}, {kind: Deployment, name: okapi}]"}),
		"two containers of one":                      accept(change{"spec.onImageChange", "[{name: okapi, container: a}, {name: okapi, container: b}]"}),
		"a Deployment and a StatefulSet of one name": accept(change{"spec.onImageChange", "[{name: okapi}, {kind: StatefulSet, name: okapi}]"}),
		"no workloads":                               refuse("spec.onImageChange", "should have at least 1 items", change{"spec.onImageChange", "[]"}),
		"a release with tags":                        accept(change{"spec.release", `"okapi {tags}, {date} {time}"`}),
		"tags without onImageChange":                 refuse("spec", "{tags} in release requires onImageChange", change{"spec.release", `"{tags}"`}, change{"spec.onImageChange", ""}),
		"a release with an unknown placeholder":      refuse("spec.release", "release may have {tags}, {date} and {time} in it", change{"spec.release", `"{version}"`}),
		"a release with half a brace":                refuse("spec.release", "release may have", change{"spec.release", `"{date"`}),
		"a negative limit":                           refuse("spec.successfulExperimentsHistoryLimit", "greater than or equal to 0", change{"spec.successfulExperimentsHistoryLimit", "-1"}),
		"labels and annotations":                     accept(change{"spec.template.metadata", "{labels: {team: a}, annotations: {why: b}}"}),
		"a label of perflab.dev":                     refuse("spec.template.metadata.labels", "labels of perflab.dev are reserved", change{"spec.template.metadata.labels", "{perflab.dev/schedule: x}"}),
		"an annotation of an import":                 refuse("spec.template.metadata.annotations", "annotations of perflab.dev are reserved", change{"spec.template.metadata.annotations", "{perflab.dev/imported: x}"}),
		"a template without arms": refuse("spec.template.spec", "an experiment needs exactly one of arms (a list of configurations) and matrix",
			change{"spec.template.spec.matrix", "{factors: [{name: a, levels: [{name: b}, {name: c}]}]}"}),
		"an unknown field in the template": refuse("", `unknown field "spec.template.spec.armz"`, change{"spec.template.spec.armz", "[]"}),
		"no template":                      refuse("spec.template", "Required value", change{"spec.template", ""}),
	} {
		t.Run(name, func(t *testing.T) {
			verdict(t, create(t, schedule(t, rule.changes...)), rule.place, rule.sentence)
		})
	}
}
