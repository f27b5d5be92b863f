// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"fmt"
	"slices"
)

// Experiments gives the UIDs of the experiments of a name of which something is kept, be
// it runs alone, sorted. It reads no record.
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

// Forget takes an experiment out of the archive, with its runs: nothing leads to them any
// more. What they referred to is left to [Store.Collect], as others may refer to it. Each
// key that goes is told before; a dry run tells alone. It can end anywhere and be done
// again: what leads to the experiment from series goes first, its own records last. Of an
// experiment that is not there nothing goes.
func (s *Store) Forget(ctx context.Context, of Identity, dryRun bool, tell func(key string)) error {
	if of.ExperimentUID == "" || of.Run != "" {
		return badRecord("what is to be forgotten is an experiment: give its UID, and no run")
	}
	going, err := s.leading(ctx, of)
	if err != nil {
		return err
	}
	for _, key := range going {
		tell(key)
		if dryRun {
			continue
		}
		if err := s.delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// leading are the keys that lead to an experiment and its runs, in the order in which they go.
func (s *Store) leading(ctx context.Context, to Identity) ([]string, error) {
	var keys []string
	for point, err := range s.Points(ctx, to.Namespace, "") {
		if err != nil {
			return nil, fmt.Errorf("looking for it in the series: %w", err)
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
