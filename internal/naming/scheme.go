// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"fmt"

	"perflab.dev/perflab/api/v1alpha1"
)

// Scheme is how names are made. An experiment keeps the one of its first run: under
// other names, what it is measured on would be built a second time in the middle.
type Scheme int

const (
	// Long names have DigestLength digits of a hash.
	Long Scheme = iota
	// Short names have four or six. They are those of operators from before the
	// manifest of digests.
	Short
)

// RunScheme is how a run was named, and so all that is made for it.
func RunScheme(run *v1alpha1.PerfRun) Scheme {
	spec := &run.Spec
	if run.Name == Short.Run(spec.Experiment, spec.Block, spec.Arm, spec.Scenario.Name, spec.Attempt) {
		return Short
	}
	return Long
}

// Run is the name of the PerfRun for one place in the plan.
func (s Scheme) Run(experiment string, block int32, arm, scenario string, attempt int32) string {
	name := fmt.Sprintf("%s-%d-%s-%s", experiment, block, arm, scenario)
	if attempt > 1 {
		name += fmt.Sprintf("-try%d", attempt)
	}
	// A plain join can collide (a-b + c, a + b-c), so a hash tells them apart.
	return shorten(name, maxRunName, s.cut(Hash(experiment, block, arm, scenario, attempt), 6))
}

// TestRun is the name of the k6 TestRun for one load of a run.
func (s Scheme) TestRun(run, load string) string {
	return shorten(run+"-"+load, maxTestRunName, s.cut(Hash(run, load), 4))
}

// Kafka is the name of the experiment's Kafka. Where several stay up side by
// side, each has a shape, a digest of what it is made from, else the shape is
// empty.
func (s Scheme) Kafka(experiment, shape string) string { return s.shaped(experiment, shape) }

// Postgres is the name of the experiment's PostgreSQL cluster, with a shape
// where several stay up side by side.
func (s Scheme) Postgres(experiment, shape string) string { return s.shaped(experiment+"-pg", shape) }

// BrokerPool is the name of a Kafka's pool of brokers. Pools are unique in a
// namespace, not in a Kafka, and Strimzi puts the Kafka's name in front of the
// pool's for the pods, so it carries no more than a digest of it.
func (s Scheme) BrokerPool(kafka string) string { return "broker-" + s.pool(kafka) }

// ControllerPool is the name of a Kafka's pool of dedicated controllers.
func (s Scheme) ControllerPool(kafka string) string {
	if s == Short {
		return "controller-" + s.pool(kafka)
	}
	return "kraft-" + s.pool(kafka)
}

// TopicLedger is the name of the ConfigMap that notes that the experiment has
// topics in brokers that are somebody else's.
func (s Scheme) TopicLedger(experiment string, brokers any) string {
	return experiment + "-topics-" + s.Prefix(Hash(brokers))
}

// Prefix is as much of a hash as stands in front of topics' names.
func (s Scheme) Prefix(hash string) string { return s.cut(hash, 6) }

func (s Scheme) pool(kafka string) string {
	if s == Short {
		return Hash(kafka)[:6]
	}
	return shortDigest(kafka)
}

func (s Scheme) shaped(name, shape string) string {
	if shape == "" {
		return name
	}
	return name + "-" + s.cut(shape, 4)
}

// cut is as much of a hash as tells names apart.
func (s Scheme) cut(hash string, short int) string {
	if s == Short {
		return hash[:short]
	}
	return hash[:DigestLength]
}
