// SPDX-License-Identifier: Apache-2.0

// Package cache holds what the operator caches of a cluster: the informers and how they
// list and decode, what the cache keeps of each object, the pods by label, and clients that
// do not read older state than this process wrote. It bounds memory by what an experiment
// needs, not by the size of the cluster. It depends on the operator's API types, but on
// neither components nor controllers.
package cache
