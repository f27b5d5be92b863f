// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/recurrence"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/rules"
)

// nightly returns a schedule with the valid experiment as its template.
func nightly(t *testing.T, changes ...change) *unstructured.Unstructured {
	t.Helper()
	made := rules.Schedule(t)
	apply(t, made, []change{{"spec.template.spec", ""}})
	made.Object["spec"].(map[string]any)["template"] = map[string]any{"spec": rules.Object(t, valid).Object["spec"]}
	made.SetNamespace("default")
	apply(t, made, changes)
	return made
}

func TestSchedules(t *testing.T) {
	server.Config(t)
	const inTemplate = "spec.template."
	for name, rule := range map[string]rule{
		"as it is":       accept(),
		"no such minute": refuse("spec.schedule", "write minute, hour, day of the month, month and day of the week", change{"spec.schedule", "60 2 * * *"}),
		"no such zone":   refuse("spec.timeZone", "write the name of a time zone, for example Europe/Berlin, or UTC", change{"spec.timeZone", "Europe/Atlantis"}),
		"a zone within":  refuse("spec.schedule", "the schedule contains a time zone: write it into timeZone instead", change{"spec.schedule", "TZ=UTC 0 2 * * *"}),
		"an unknown module in the template": refuse(inTemplate+aSet+".modules[0].name", `arm "changed": the system has no module "inventory"`,
			change{inTemplate + set, `{modules: [{name: inventory, replicas: 2}]}`}),
		"misspelt affinity in the template": refuse(inTemplate+"spec.system.kafka.brokers.placement.affinity.podAfinity", "an affinity has no such field",
			change{inTemplate + "spec.system.kafka.brokers.placement", "{affinity: {podAfinity: {}}}"}),
		"names too long together": refuse(inTemplate+"spec.system.modules[1].name", "characters, and 62 are allowed",
			change{"metadata.name", "a-name-of-23-characters"}, change{inTemplate + "spec.system.modules.1.name", "a-module-with-a-name-of-36-characters"}),
		"even controllers in the template": warn("write an odd number, for example 3 (spec.template.spec.system.kafka.controllers.replicas)",
			change{inTemplate + "spec.system.kafka.controllers.replicas", "2"}),
	} {
		t.Run(name, func(t *testing.T) {
			c, told := user(t)
			err := c.Create(t.Context(), nightly(t, rule.changes...), client.DryRunAll)
			rules.Verdict(t, err, rule.place, rule.sentence)
			rule.judgeWarnings(t, err, told.told)
		})
	}
}

// The author of a schedule needs the rights for the references of its experiments, and for
// the workloads that it watches. An editor needs all of them.
func TestScheduleAuthorsNeedRights(t *testing.T) {
	a := writer(t)
	rules.Verdict(t, a.ask(nightly(t)), "spec.template.spec.system.target.credentialsSecret", a.message(`get Secret "login"`)+": PerfLab uses only what the author may use: ask for the right, or have someone who has it apply the schedule")
	rules.Verdict(t, a.ask(nightly(t)), "spec.onImageChange[0]", a.message(`get Deployment "okapi"`))
	stored := nightly(t)
	stored.SetNamespace(a.namespace)
	expect.NoError(t, a.admin.Create(t.Context(), stored), "making the schedule")
	edit := func(given change) error {
		edited := stored.DeepCopy()
		apply(t, edited, []change{given})
		return a.client.Update(t.Context(), edited, client.DryRunAll)
	}
	rules.Verdict(t, edit(change{"metadata.labels", "{team: a}"}), "", "")
	rules.Verdict(t, edit(change{"spec.schedule", "0 3 * * *"}), "spec.template.spec.system.target.credentialsSecret", a.message(`get Secret "login"`))
	a.grant(t, right{"get", "", "secrets", "login"})
	a.grant(t, right{"get", "apps", "deployments", "okapi"})
	rules.Verdict(t, a.ask(nightly(t, change{"metadata.name", "another"})), "", "")
	rules.Verdict(t, edit(change{"spec.schedule", "0 3 * * *"}), "", "")
}

// The author of a schedule needs the rights for the references of its system.
func TestScheduleAuthorsNeedSystemRights(t *testing.T) {
	a := writer(t)
	system := shared(t)
	system.SetNamespace(a.namespace)
	expect.NoError(t, a.admin.Create(t.Context(), system), "making the system")
	refers := nightly(t, change{"spec.onImageChange", ""}, change{"spec.template.spec.system", ""}, change{"spec.template.spec.systemRef", "{name: folio}"})
	rules.Verdict(t, a.ask(refers), "spec.template.spec.systemRef.name", `PerfSystem "folio", spec.target.credentialsSecret: `+a.message(`get Secret "login"`))
}

// The operator may create experiments from an unchanged template, whose rights were checked
// when the schedule was written. Any other experiment that it creates is rejected, because
// the operator itself may not get any Secret.
func TestOnlyOperatorCreatesScheduledExperiments(t *testing.T) {
	a := writer(t)
	stored := nightly(t)
	stored.SetNamespace(a.namespace)
	expect.NoError(t, a.admin.Create(t.Context(), stored), "making the schedule")
	schedule := &v1alpha1.PerfSchedule{}
	expect.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, schedule))
	config := rest.CopyConfig(server.Config(t))
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:perflab-system:perflab-operator"}
	operator := apiserver.Client(t, config)
	made := func() *v1alpha1.PerfExperiment {
		return recurrence.Experiment(schedule, "nightly-1", "Schedule", "1")
	}
	lacks := `may not get Secret "login"`
	ask := func(c client.Client, object *v1alpha1.PerfExperiment, wrong string) {
		t.Helper()
		rules.Verdict(t, c.Create(t.Context(), object, client.DryRunAll), "", wrong)
	}
	ask(operator, made(), "")
	ask(a.client, made(), lacks)

	other := made()
	other.Spec.KeepWarm = true
	ask(operator, other, lacks)
	free := made()
	free.OwnerReferences = nil
	ask(operator, free, lacks)
	orphan := made()
	orphan.OwnerReferences[0].Name = "weekly"
	ask(operator, orphan, lacks)
	replaced := made()
	replaced.OwnerReferences[0].UID = "another"
	ask(operator, replaced, lacks)

	// A template that has become invalid is rejected, even from the operator.
	broken := nightly(t, change{"spec.onImageChange", ""}, change{"spec.template.spec.system", ""}, change{"spec.template.spec.systemRef", "{name: folio}"},
		change{"spec.template.spec.arms.1.set", "{modules: [{name: inventory, replicas: 2}]}"}, change{"metadata.name", "broken"})
	broken.SetNamespace(a.namespace)
	expect.NoError(t, a.admin.Create(t.Context(), broken), "making the schedule")
	system := shared(t)
	system.SetNamespace(a.namespace)
	if err := a.admin.Create(t.Context(), system); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatalf("making the system: %v", err)
	}
	expect.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(broken.Object, schedule))
	ask(operator, made(), `the system has no module "inventory"`)
}
