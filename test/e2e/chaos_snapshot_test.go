//go:build e2e

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
)

// snapshot is the state of an experiment and its runs.
type snapshot struct {
	experiment v1alpha1.PerfExperiment
	runs       []v1alpha1.PerfRun
}

func (s *subject) observe(ctx context.Context) (snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	now := snapshot{}
	if err := cluster.Get(ctx, client.ObjectKeyFromObject(s.experiment), &now.experiment); err != nil {
		return now, err
	}
	list := &v1alpha1.PerfRunList{}
	err := cluster.List(ctx, list, client.InNamespace(s.experiment.Namespace))
	now.runs = list.Items
	return now, err
}

func (m snapshot) run() string {
	if m.experiment.Status.Current == nil {
		return ""
	}
	return m.experiment.Status.Current.Run
}

func (m snapshot) current() *v1alpha1.PerfRun {
	for i := range m.runs {
		if m.runs[i].Name == m.run() {
			return &m.runs[i]
		}
	}
	return nil
}

func (m snapshot) phase() string {
	run := m.current()
	if run == nil {
		return "between runs"
	}
	if started := loadStart(run); started != nil && m.loading() {
		return fmt.Sprintf("Loading for %s", time.Since(started.Time).Round(time.Second))
	}
	return string(run.Status.Phase)
}

func (m snapshot) loading() bool {
	run := m.current()
	return run != nil && run.Status.Phase == v1alpha1.RunLoading && loadStart(run) != nil
}

// freshLoad returns whether the load has started, does not end soon, and is not being
// stopped.
func (m snapshot) freshLoad() bool {
	run := m.current()
	return m.loading() && !meta.IsStatusConditionFalse(run.Status.Conditions, v1alpha1.ConditionValid) && time.Since(loadStart(run).Time) < underLoad
}

// loadStart returns the start time of the first load, which is the longest.
func loadStart(run *v1alpha1.PerfRun) *metav1.Time {
	for _, load := range run.Status.Loads {
		if load.StartTime != nil && load.FinishTime == nil {
			return load.StartTime
		}
	}
	return nil
}

func (m snapshot) done() bool {
	return meta.IsStatusConditionTrue(m.experiment.Status.Conditions, v1alpha1.ConditionComplete) ||
		m.experiment.Status.Phase == v1alpha1.ExperimentStalled
}

// endProblems returns the problems of a finished experiment.
func (m snapshot) endProblems() []string {
	if m.experiment.Status.Phase == v1alpha1.ExperimentStalled {
		if m.experiment.Status.WaitingFor == "" {
			return []string{"it stalled without a sentence"}
		}
		return nil
	}
	done := 0
	for _, run := range m.runs {
		if run.Status.Phase == v1alpha1.RunSucceeded {
			done++
		}
	}
	if done != int(m.experiment.Status.Runs.Planned) {
		return []string{fmt.Sprintf("it is complete with %d runs of %d", done, m.experiment.Status.Runs.Planned)}
	}
	return nil
}

// progressed returns whether something has changed since the earlier snapshot.
func (m snapshot) progressed(before snapshot) bool { return m.String() != before.String() }

func (m snapshot) String() string {
	text := fmt.Sprintf("%s %s", m.experiment.Status.Phase, m.experiment.Status.Progress)
	if run := m.current(); run != nil {
		text += fmt.Sprintf(" %s %s %s", run.Name, run.Status.Phase, run.Status.Message)
	}
	return text + " " + m.experiment.Status.WaitingFor
}

// problem is a condition that reports a problem, and the name of its object.
type problem struct {
	of string
	metav1.Condition
}

// repeats returns whether it reports a known problem. A run is invalid only once, but its
// message may grow.
func (c problem) repeats(known problem) bool {
	return c.of == known.of && c.Type == known.Type && c.Status == known.Status && (c.Message == known.Message || c.Type == v1alpha1.ConditionValid)
}

// report returns a condition that names the fault and did not name it before. The condition
// belongs to the experiment, to the run that was active, or to the active run.
func (m snapshot) report(f fault, before snapshot, after time.Duration) string {
	if f.reported == nil {
		return ""
	}
	known := before.problems(before.run())
	for _, c := range m.problems(before.run()) {
		if f.reported.MatchString(c.Type+" "+c.Reason+" "+c.Message) && !slices.ContainsFunc(known, c.repeats) {
			return fmt.Sprintf("after %d s: %s=%s %s: %s", int(after.Seconds()), c.Type, c.Status, c.Reason, c.Message)
		}
	}
	return ""
}

// problems returns the problems of the experiment, of a run, and of the active run.
func (m snapshot) problems(run string) []problem {
	all := conditionProblems(m.experiment.Name, m.experiment.Status.Conditions)
	for _, each := range m.runs {
		if each.Name == run || each.Name == m.run() {
			all = append(all, conditionProblems(each.Name, each.Status.Conditions)...)
		}
	}
	return all
}

// waitingFor returns the component that the active run waits for, from its condition.
func (m snapshot) waitingFor() string {
	run := m.current()
	if run == nil {
		return ""
	}
	for _, part := range []string{v1alpha1.ConditionKafkaReady, v1alpha1.ConditionPostgresReady, v1alpha1.ConditionDataRestored, v1alpha1.ConditionModulesReady, v1alpha1.ConditionTargetReachable} {
		if c := meta.FindStatusCondition(run.Status.Conditions, part); c != nil && c.Status == metav1.ConditionFalse {
			return fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message)
		}
	}
	return ""
}

func conditionProblems(name string, conditions []metav1.Condition) []problem {
	var all []problem
	for _, c := range conditions {
		if c.Status != metav1.ConditionTrue || c.Type == v1alpha1.ConditionReconciling || c.Type == v1alpha1.ConditionStalled {
			all = append(all, problem{of: name, Condition: c})
		}
	}
	return all
}

// check returns violations that are never allowed: a lost, changed or duplicate run, or
// another plan.
func (s *subject) check(ctx context.Context) []string {
	now, err := s.observe(ctx)
	if err != nil {
		return []string{err.Error()}
	}
	wrong := s.checkFinished(now)
	if s.plan == "" {
		s.plan = now.experiment.Status.PlanHash
	}
	if now.experiment.Status.PlanHash != s.plan {
		wrong = append(wrong, fmt.Sprintf("the plan is %s now and was %s", now.experiment.Status.PlanHash, s.plan))
	}
	active, done, attempts := 0, map[string]int{}, map[string][]int32{}
	for _, run := range now.runs {
		place := fmt.Sprintf("%d/%s/%s", run.Spec.Block, run.Spec.Arm, run.Spec.Scenario.Name)
		attempts[place] = append(attempts[place], run.Spec.Attempt)
		switch run.Status.Phase {
		case v1alpha1.RunSucceeded:
			done[place]++
		case v1alpha1.RunInvalid:
		default:
			active++
		}
	}
	if active > 1 {
		wrong = append(wrong, fmt.Sprintf("%d runs are active at once", active))
	}
	for place, times := range done {
		if times > 1 {
			wrong = append(wrong, fmt.Sprintf("%s was done %d times", place, times))
		}
	}
	for place, numbers := range attempts {
		slices.Sort(numbers)
		for i, number := range numbers {
			if number != int32(i+1) {
				wrong = append(wrong, fmt.Sprintf("the attempts of %s are %d", place, numbers))
				break
			}
		}
	}
	return wrong
}

// checkFinished returns the finished runs that have changed.
func (s *subject) checkFinished(now snapshot) []string {
	var wrong []string
	found := map[string]string{}
	for _, run := range now.runs {
		if run.Status.Phase != v1alpha1.RunSucceeded && run.Status.Phase != v1alpha1.RunInvalid {
			continue
		}
		found[run.Name] = fmt.Sprintf("%s %s %s", run.UID, run.Status.Phase, digest(run.Status.Observations))
	}
	for name, result := range s.finished {
		if found[name] != result {
			wrong = append(wrong, fmt.Sprintf("run %s was %q and is %q", name, result, found[name]))
		}
	}
	s.finished = found
	return wrong
}

func digest(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return naming.Hash(string(text))[:12]
}

// pods returns the running pods of the experiment's namespace with these labels.
func (s *subject) pods(ctx context.Context, labels client.MatchingLabels) []corev1.Pod {
	return running(ctx, s.experiment.Namespace, labels)
}

func running(ctx context.Context, namespace string, labels client.MatchingLabels) []corev1.Pod {
	list := &corev1.PodList{}
	if err := cluster.List(ctx, list, client.InNamespace(namespace), labels); err != nil {
		return nil
	}
	return slices.DeleteFunc(list.Items, func(pod corev1.Pod) bool {
		return pod.DeletionTimestamp != nil || len(pod.Status.ContainerStatuses) == 0 || pod.Status.ContainerStatuses[0].State.Running == nil
	})
}
