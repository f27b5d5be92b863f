// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/runs/runfilter"
)

// stepScripts looks whether the scripts are there and are those that were
// measured before, and writes down what they are. A load that has begun has read
// its script.
func (r *Reconciler) stepScripts(ctx context.Context, s *scope) (outcome, error) {
	due := s.scriptsDue()
	if len(due) == 0 {
		return next(), nil
	}
	found := map[string]map[string]string{}
	for _, wanted := range due {
		files, trouble, err := r.Files(ctx, s.run.Namespace, *scriptKey(wanted), fmt.Sprintf("load %q", wanted.Name))
		if err == nil && trouble == nil {
			trouble, err = r.changedScript(ctx, s, wanted, files)
		}
		if err != nil {
			return outcome{}, err
		}
		if trouble != nil {
			s.tell(v1alpha1.ConditionScriptsAvailable, *trouble)
			waiting := s.notReady("the scripts", *trouble)
			waiting.after = missingKindPause
			return waiting, nil
		}
		found[wanted.Name] = files
	}
	s.tell(v1alpha1.ConditionScriptsAvailable, environment.Ready("every script is there"))
	return next(), r.keepScripts(ctx, s, due, found)
}

// scriptsDue are the loads whose scripts come from ConfigMaps, while none of a
// run's loads has begun.
func (s *scope) scriptsDue() []v1alpha1.Load {
	var due []v1alpha1.Load
	for _, wanted := range s.run.Spec.Scenario.Loads {
		if slices.ContainsFunc(s.status().Loads, func(status v1alpha1.LoadStatus) bool { return status.CreateTime != nil }) {
			return nil
		}
		if scriptKey(wanted) != nil {
			due = append(due, wanted)
		}
	}
	return due
}

// scriptKey is where a load's script is in a ConfigMap; nil for one that is not.
func scriptKey(wanted v1alpha1.Load) *v1alpha1.ConfigMapKey {
	return kinds.ForLoad(wanted).Source().ConfigMap
}

// changedScript says in what a script is not the one that an earlier run
// measured. Of runs that don't count nothing is compared, so that a script that
// made them fail can be mended.
func (r *Reconciler) changedScript(ctx context.Context, s *scope, wanted v1alpha1.Load, files map[string]string) (*environment.Readiness, error) {
	key := *scriptKey(wanted)
	measured, before, err := r.measuredScript(ctx, s, key)
	if err != nil || before == nil {
		return nil, err
	}
	changed := load.ScriptChanged(key.Key, before, load.NewScriptStatus(key.Key, files))
	if changed == "" {
		return nil, nil
	}
	trouble := environment.NotReady(v1alpha1.ReasonScriptChanged, fmt.Sprintf(
		"the script of load %q is not the one that run %q measured: in ConfigMap %q, %s; put the ConfigMap back as it was (ConfigMap %q has the text), or give the new script an experiment of its own",
		wanted.Name, measured, key.Name, changed, before.Record))
	return &trouble, nil
}

// measuredScript is what a script was in the first run that counts, and that
// run's name.
func (r *Reconciler) measuredScript(ctx context.Context, s *scope, key v1alpha1.ConfigMapKey) (run string, script *v1alpha1.ScriptStatus, err error) {
	runs, err := component.RunsOf(ctx, r.Cluster.Client, s.run.Namespace, s.run.Spec.Experiment)
	if err != nil {
		return "", nil, err
	}
	own, _ := runfilter.Following(s.experiment, runfilter.Recorded(s.experiment), runs)
	slices.SortFunc(own, func(a, b v1alpha1.PerfRun) int { return cmp.Compare(a.Spec.Position, b.Spec.Position) })
	for i := range own {
		if found := scriptOf(&own[i], key); own[i].Status.Phase == v1alpha1.RunSucceeded && found != nil {
			return own[i].Name, found, nil
		}
	}
	return "", nil, nil
}

// scriptOf is what a run wrote down of a script; nil: nothing.
func scriptOf(run *v1alpha1.PerfRun, key v1alpha1.ConfigMapKey) *v1alpha1.ScriptStatus {
	for _, wanted := range run.Spec.Scenario.Loads {
		if own := scriptKey(wanted); own == nil || *own != key {
			continue
		}
		for i := range run.Status.Loads {
			if status := &run.Status.Loads[i]; status.Name == wanted.Name && status.Script != nil {
				return status.Script
			}
		}
	}
	return nil
}

// keepScripts writes the scripts down before anybody runs them.
func (r *Reconciler) keepScripts(ctx context.Context, s *scope, due []v1alpha1.Load, found map[string]map[string]string) error {
	name, scripts := naming.RawScripts(s.run.Name), map[string]*v1alpha1.ScriptStatus{}
	known := true
	for _, wanted := range due {
		key := scriptKey(wanted).Key
		is, was := load.NewScriptStatus(key, found[wanted.Name]), s.load(wanted.Name).Script
		is.Record = name
		scripts[wanted.Name] = is
		known = known && was != nil && load.ScriptChanged(key, was, is) == ""
	}
	if known {
		return nil
	}
	texts, leftOut := scriptTexts(due, found)
	record := recordOf(s.run, name, leftOut)
	record.Data = texts
	if err := r.Cluster.ApplyTyped(ctx, record); err != nil {
		return err
	}
	for _, wanted := range s.run.Spec.Scenario.Loads {
		// In the order of the scenario, those without a script too.
		s.load(wanted.Name).Script = scripts[wanted.Name]
	}
	return s.noteKept(record)
}

// scriptTexts are the scripts, as far as a ConfigMap has room, and the names of
// those it has none for.
func scriptTexts(due []v1alpha1.Load, found map[string]map[string]string) (recorded map[string]string, dropped []string) {
	recorded = map[string]string{}
	for _, wanted := range due {
		texts, leftOut := load.ScriptTexts(wanted.Name, scriptKey(wanted).Key, found[wanted.Name])
		dropped = append(dropped, leftOut...)
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			if sizeOf(recorded)+len(texts[name]) > maxRawBytes {
				dropped = append(dropped, name)
				continue
			}
			recorded[name] = texts[name]
		}
	}
	return recorded, dropped
}

func sizeOf(texts map[string]string) int {
	total := 0
	for _, text := range texts {
		total += len(text)
	}
	return total
}
