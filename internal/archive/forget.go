// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"fmt"
	"slices"
)

// Experiments returns the sorted UIDs of the stored experiments of a name, also of those with
// runs only. It reads no record.
func (s *Store) Experiments(ctx context.Context, namespace, name string) ([]string, error) {
	var found []string
	for _, prefix := range []string{ExperimentsPrefix, RunsPrefix} {
		for reference, err := range s.List(ctx, prefix+namespace+"/"+name+"/") {
			if err != nil {
				return nil, err
			}
			found = append(found, reference.ExperimentUID)
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// Forget removes the references to an experiment and its runs. [Store.Collect] removes the
// objects, which other records may share. Each key is reported before its removal; a dry run
// only reports. It can be interrupted and repeated: points are removed first, the experiment's
// own records last.
func (s *Store) Forget(ctx context.Context, of Identity, dryRun bool, report func(key string)) error {
	if of.ExperimentUID == "" || of.Run != "" {
		return badRecord("only an experiment can be forgotten: specify its UID, and no run")
	}
	going, err := s.keysOfExperiment(ctx, of)
	if err != nil {
		return err
	}
	for _, key := range going {
		report(key)
		if dryRun {
			continue
		}
		if err := s.delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// keysOfExperiment returns the keys of an experiment and its runs in the order of their removal.
func (s *Store) keysOfExperiment(ctx context.Context, to Identity) ([]string, error) {
	var keys []string
	for point, err := range s.Points(ctx, to.Namespace, "") {
		if err != nil {
			return nil, fmt.Errorf("searching the series: %w", err)
		}
		if point.ExperimentUID == to.ExperimentUID {
			keys = append(keys, point.String())
		}
	}
	for _, prefix := range []string{to.reference(Digest{}).group(), to.Prefix()} {
		for reference, err := range s.List(ctx, prefix) {
			if err != nil {
				return nil, err
			}
			keys = append(keys, reference.String())
		}
	}
	return keys, nil
}
