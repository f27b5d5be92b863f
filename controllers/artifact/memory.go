// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
)

// memories save reconciles the checks of earlier ones, by experiment. Nothing depends on them:
// a restarted operator checks again.
type memories struct {
	mutex sync.Mutex
	known map[types.NamespacedName]*memory
	// traced is the size of all traces in bytes; full means that the last trace did not fit.
	traced int
	full   bool
}

// memory is the memory of an experiment. One reconcile at a time uses it.
type memory struct {
	uid types.UID
	// current are the sources of the artifacts that were current when the status was written.
	current map[v1alpha1.ArtifactName]string
	// historyDigest is the digest in the subject.
	historyDigest string
	// traces of runs that ended, by UID.
	traces map[types.UID]traced
}

// of returns the memory of the experiment; that of an earlier one with its name is dropped.
func (m *memories) of(experiment *v1alpha1.PerfExperiment) *memory {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	key := client.ObjectKeyFromObject(experiment)
	known := m.known[key]
	if known != nil && known.uid == experiment.UID {
		return known
	}
	m.drop(known)
	if m.known == nil {
		m.known = map[types.NamespacedName]*memory{}
	}
	m.known[key] = &memory{uid: experiment.UID, current: map[v1alpha1.ArtifactName]string{}}
	return m.known[key]
}

func (m *memories) forget(key types.NamespacedName) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.drop(m.known[key])
	delete(m.known, key)
}
