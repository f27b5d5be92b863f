// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	kubecache "perflab.dev/perflab/internal/kube/cache"
	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/runs/runfilter"
	"perflab.dev/perflab/internal/runs/runorder"
)

// stepScripts checks that the scripts exist and match those of earlier runs, and records them. A
// load that has started has already read its script.
func (r *Reconciler) stepScripts(ctx context.Context, s *scope) (outcome, error) {
	due := s.pendingScripts()
	if len(due) == 0 {
		return next(), nil
	}
	found := map[string]map[string]string{}
	for _, wanted := range due {
		files, problem, err := r.ReadScriptFiles(ctx, s.run.Namespace, *scriptKey(wanted), fmt.Sprintf("load %q", wanted.Name))
		if err == nil && problem == nil {
			problem, err = r.changedScript(ctx, s, wanted, files)
		}
		if err != nil {
			return outcome{}, err
		}
		if problem != nil {
			s.setReadiness(v1alpha1.ConditionScriptsAvailable, *problem)
			waiting := s.notReady("the scripts", *problem)
			waiting.after = missingKindRetryInterval
			return waiting, nil
		}
		found[wanted.Name] = files
	}
	s.setReadiness(v1alpha1.ConditionScriptsAvailable, environment.Ready("all scripts exist"))
	return next(), r.storeScripts(ctx, s, due, found)
}

// pendingScripts are the loads whose scripts are in ConfigMaps, until the first load starts.
func (s *scope) pendingScripts() []v1alpha1.Load {
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

// scriptKey is the ConfigMap key of a load's script, or nil if it has none.
func scriptKey(wanted v1alpha1.Load) *v1alpha1.ConfigMapKey {
	return kinds.ForLoad(wanted).Source().ConfigMap
}

// changedScript returns how a script differs from that of an earlier run. It ignores invalid
// runs, so that a script that made them fail can be fixed.
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
	problem := environment.NotReady(v1alpha1.ReasonScriptChanged, fmt.Sprintf(
		"the script of load %q has changed since run %q: in ConfigMap %q, %s; restore the ConfigMap (ConfigMap %q has the text), or use the new script in a separate experiment",
		wanted.Name, measured, key.Name, changed, before.Record))
	return &problem, nil
}

// measuredScript returns the script of the first valid run, and that run's name.
func (r *Reconciler) measuredScript(ctx context.Context, s *scope, key v1alpha1.ConfigMapKey) (run string, script *v1alpha1.ScriptStatus, err error) {
	runs, err := kubecache.ListRuns(ctx, r.Cluster.Client, s.run.Namespace, s.run.Spec.Experiment)
	if err != nil {
		return "", nil, err
	}
	own, _ := runfilter.Following(s.experiment, runfilter.Recorded(s.experiment), runs)
	for _, one := range runorder.Sorted(own) {
		if found := recordedScript(one, key); one.Status.Phase == v1alpha1.RunSucceeded && found != nil {
			return one.Name, found, nil
		}
	}
	return "", nil, nil
}

// recordedScript returns the script that a run recorded, or nil.
func recordedScript(run *v1alpha1.PerfRun, key v1alpha1.ConfigMapKey) *v1alpha1.ScriptStatus {
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

// storeScripts stores the scripts before they run.
func (r *Reconciler) storeScripts(ctx context.Context, s *scope, due []v1alpha1.Load, found map[string]map[string]string) error {
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
	record := newRecord(s.run, name, leftOut)
	record.Data = texts
	if err := r.Cluster.ApplyTyped(ctx, record); err != nil {
		return err
	}
	for _, wanted := range s.run.Spec.Scenario.Loads {
		// In the order of the scenario, also loads without a script.
		s.load(wanted.Name).Script = scripts[wanted.Name]
	}
	return s.recordDigest(record)
}

// scriptTexts returns the scripts that fit into a ConfigMap, and the names of the others.
func scriptTexts(due []v1alpha1.Load, found map[string]map[string]string) (recorded map[string]string, dropped []string) {
	recorded = map[string]string{}
	for _, wanted := range due {
		texts, leftOut := load.ScriptTexts(wanted.Name, scriptKey(wanted).Key, found[wanted.Name])
		dropped = append(dropped, leftOut...)
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			if totalBytes(recorded)+len(texts[name]) > maxRawBytes {
				dropped = append(dropped, name)
				continue
			}
			recorded[name] = texts[name]
		}
	}
	return recorded, dropped
}

func totalBytes(texts map[string]string) int {
	total := 0
	for _, text := range texts {
		total += len(text)
	}
	return total
}
