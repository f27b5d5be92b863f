// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"fmt"

	"perflab.dev/perflab/api/v1alpha1"
)

// Scheme is a naming scheme. An experiment keeps the scheme of its first run, because other
// names would rebuild its environment.
type Scheme int

const (
	// Long names have DigestLength digits of a hash.
	Long Scheme = iota
	// Short names have four or six. Earlier versions of the operator used them.
	Short
)

// RunScheme returns the naming scheme of a run.
func RunScheme(run *v1alpha1.PerfRun) Scheme {
	spec := &run.Spec
	if run.Name == Short.Run(spec.Experiment, spec.Block, spec.Arm, spec.Scenario.Name, spec.Attempt) {
		return Short
	}
	return Long
}

// Run returns the name of a planned run's PerfRun.
func (s Scheme) Run(experiment string, block int32, arm, scenario string, attempt int32) string {
	name := fmt.Sprintf("%s-%d-%s-%s", experiment, block, arm, scenario)
	if attempt > 1 {
		name += fmt.Sprintf("-try%d", attempt)
	}
	// A plain join can collide (a-b + c, a + b-c), so the name has a hash.
	return shorten(name, maxRunName, s.cut(Hash(experiment, block, arm, scenario, attempt), 6))
}

// TestRun returns the name of the k6 TestRun for one load of a run.
func (s Scheme) TestRun(run, load string) string {
	return shorten(run+"-"+load, maxTestRunName, s.cut(Hash(run, load), 4))
}

// Kafka returns the name of the experiment's Kafka. If several run side by side, the name
// contains the shape, a digest of the configuration; else shape is empty.
func (s Scheme) Kafka(experiment, shape string) string { return s.shaped(experiment, shape) }

// Postgres returns the name of the experiment's PostgreSQL cluster, with a shape if several
// run side by side.
func (s Scheme) Postgres(experiment, shape string) string { return s.shaped(experiment+"-pg", shape) }

// BrokerPool returns the name of a Kafka's broker pool. Pools' names are unique per
// namespace, and pods' names contain both names, so this one contains only a digest of the
// Kafka's.
func (s Scheme) BrokerPool(kafka string) string { return "broker-" + s.pool(kafka) }

// ControllerPool returns the name of a Kafka's pool of dedicated controllers.
func (s Scheme) ControllerPool(kafka string) string {
	if s == Short {
		return "controller-" + s.pool(kafka)
	}
	return "kraft-" + s.pool(kafka)
}

// TopicLedger returns the name of the ConfigMap that lists the external brokers with the
// experiment's topics.
func (s Scheme) TopicLedger(experiment string, brokers any) string {
	return experiment + "-topics-" + s.Prefix(Hash(brokers))
}

// Prefix truncates a hash for topics' prefixes.
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

// cut truncates a hash for names.
func (s Scheme) cut(hash string, short int) string {
	if s == Short {
		return hash[:short]
	}
	return hash[:DigestLength]
}
