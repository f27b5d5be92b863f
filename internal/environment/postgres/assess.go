// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/text/prose"
)

// Assess reports whether PostgreSQL is as declared. It reads the Cluster, its Poolers and
// the pods with its label, including those of Poolers and jobs. An external PostgreSQL is
// always ready.
func Assess(req environment.Request, observed environment.Observed) environment.Readiness {
	if req.System.Postgres == nil {
		return environment.Readiness{Ready: true, Reason: v1alpha1.ReasonNotDeclared, Message: "the system has no PostgreSQL"}
	}
	if !isOurs(req.System.Postgres) {
		return environment.Ready(fmt.Sprintf("PostgreSQL at %s is external", prose.Enumerate(ExternalAddresses(req))))
	}
	name := req.PostgresName()
	object := observed.Get(contract.PostgresClusterKind.Kind, name)
	in := input{req: req, observed: observed, name: name, object: object, cluster: contract.PostgresCluster{Object: object}}
	if readiness, decided := environment.RunChecks(checks, in); decided {
		return readiness
	}
	if in.up() {
		return environment.NotReady(v1alpha1.ReasonCreating, fmt.Sprintf("PostgreSQL %q is ready, its PgBouncers are being created: %s", name, in.pooling()))
	}
	return environment.NotReady(v1alpha1.ReasonCreating, fmt.Sprintf("PostgreSQL %q is being created: %s", name, in.doing()))
}

// input is the input of the checks.
type input struct {
	req      environment.Request
	observed environment.Observed
	name     string
	object   *unstructured.Unstructured
	cluster  contract.PostgresCluster
}

// title names the PostgreSQL in messages.
func (in input) title() string { return fmt.Sprintf("PostgreSQL %q", in.name) }

// checks run in this order.
var checks = []environment.Check[input]{
	missing,   // the object does not exist
	replaced,  // the object has another configuration
	ready,     // before pods: a failing pod is not ready
	trouble,   // a pod has more details than the operator, and sooner
	silent,    // no status yet
	stuck,     // the operator's message
	refused,   // including Poolers
	abandoned, // no progress
}

func missing(in input) (environment.Readiness, bool) {
	return environment.Missing(in.title()), in.object == nil
}

func replaced(in input) (environment.Readiness, bool) {
	current := environment.ReadFingerprint(in.object) == in.req.PostgresShape() && in.object.GetDeletionTimestamp() == nil
	return environment.Replaced(in.title()), !current
}

func ready(in input) (environment.Readiness, bool) {
	message := fmt.Sprintf("PostgreSQL %q is ready: %s ready", in.name, prose.Partly(in.cluster.ReadyInstances(), in.cluster.Instances(), "instance"))
	if pooling := in.pooling(); pooling != "" {
		message += "; " + pooling
	}
	return environment.Ready(message), in.up() && in.poolersUp()
}

// up reports whether the Cluster itself is as declared.
func (in input) up() bool {
	image := in.req.System.Postgres.Image
	return in.cluster.Ready() && (image == "" || in.cluster.Image() == image)
}

func trouble(in input) (environment.Readiness, bool) {
	return environment.PodTrouble(in.observed.Pods, in.observed.Events, in.observed.Now)
}

func silent(in input) (environment.Readiness, bool) {
	age := in.observed.Now.Sub(in.object.GetCreationTimestamp().Time)
	return environment.Silent(in.title(), "CloudNativePG", in.req.Namespace), !in.cluster.HasStatus() && age > environment.SilenceThreshold
}

func stuck(in input) (environment.Readiness, bool) {
	return environment.NotReady(v1alpha1.ReasonRefused, fmt.Sprintf(
		"CloudNativePG can't create PostgreSQL %q as declared: %s", in.name, in.doing())), in.cluster.Stuck()
}

// abandoned finds a PostgreSQL that CloudNativePG stopped reconciling.
func abandoned(in input) (environment.Readiness, bool) {
	return environment.Abandoned(in.title(), "CloudNativePG", in.doing()), !in.up() && in.observed.Idle(in.cluster.LastTransition())
}

// refused finds a Pooler whose pods the API server rejects.
func refused(in input) (environment.Readiness, bool) {
	for _, intent := range buildPoolers(in.req) {
		pooler := in.pooler(intent.GetName())
		if pooler.Failed() {
			return environment.NotReady(v1alpha1.ReasonRefused, fmt.Sprintf("CloudNativePG can't create Pooler %q as declared: %s",
				intent.GetName(), prose.Sentence(pooler.PhaseReason()))), true
		}
	}
	return environment.Readiness{}, false
}

// doing returns CloudNativePG's message about its progress.
func (in input) doing() string {
	doing := prose.Partly(in.cluster.ReadyInstances(), in.cluster.Instances(), "instance") + " ready"
	if phase := in.cluster.Phase(); phase != "" {
		doing += "; " + phase
	}
	if reason := prose.Sentence(in.cluster.PhaseReason()); reason != "" {
		doing += ": " + reason
	}
	return doing
}

func (in input) pooler(name string) contract.PostgresPooler {
	return contract.PostgresPooler{Object: in.observed.Get(contract.PostgresPoolerKind.Kind, name)}
}

func (in input) poolersUp() bool {
	for _, intent := range buildPoolers(in.req) {
		if pooler := in.pooler(intent.GetName()); !pooler.Serves() || in.poolerPods(intent.GetName()) < pooler.Instances() || pooler.Object == nil {
			return false
		}
	}
	return true
}

// poolerPods counts the ready PgBouncers of a Pooler, whose status lacks that.
func (in input) poolerPods(name string) int64 {
	var ready int64
	for _, pod := range in.observed.Pods {
		if pod.Labels[contract.LabelPostgresPooler] == name && environment.PodReady(pod) {
			ready++
		}
	}
	return ready
}

// pooling describes the progress of the Poolers; empty if there are none.
func (in input) pooling() string {
	var parts []string
	for _, intent := range buildPoolers(in.req) {
		name := intent.GetName()
		part := fmt.Sprintf("%s ready in %q", prose.Partly(in.poolerPods(name), int64(max(1, in.req.System.Postgres.Pooler.Instances)), "PgBouncer"), name)
		if reason := prose.Sentence(in.pooler(name).PhaseReason()); reason != "" {
			part += ": " + reason
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}
