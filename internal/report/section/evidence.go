// SPDX-License-Identifier: Apache-2.0

package section

import "perflab.dev/perflab/internal/runs/evidence"

// Evidence is the input for checking the chain of digests, without the stored report, which is
// not part of a record.
func (i *Input) Evidence() (*evidence.Input, error) {
	found := &evidence.Input{Experiment: &i.Experiment, Runs: i.Runs}
	if i.Manifest != nil {
		found.Manifest = i.Manifest.Data[evidence.Key]
	}
	var err error
	if found.History, err = evidence.HistoryDigest(i.History); err != nil {
		return nil, err
	}
	for j := range i.Raw {
		if err := found.AddContent(&i.Raw[j]); err != nil {
			return nil, err
		}
	}
	return found, nil
}
