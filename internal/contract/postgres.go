// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// PostgresClusterKind is CloudNativePG's Cluster.
var PostgresClusterKind = schema.GroupVersionKind{Group: "postgresql.cnpg.io", Version: "v1", Kind: "Cluster"}

// PostgresPoolerKind is CloudNativePG's Pooler: PgBouncer before a Cluster.
var PostgresPoolerKind = schema.GroupVersionKind{Group: "postgresql.cnpg.io", Version: "v1", Kind: "Pooler"}

// Labels of the pods CloudNativePG makes.
const (
	// LabelPostgresCluster names the Cluster a pod belongs to, be it an
	// instance, a Pooler's or a job's.
	LabelPostgresCluster = "cnpg.io/cluster"
	// LabelPostgresRole distinguishes instances from Poolers.
	LabelPostgresRole = "cnpg.io/podRole"
	// LabelPostgresPooler names the Pooler a pod belongs to.
	LabelPostgresPooler = "cnpg.io/poolerName"
	// LabelPostgresInstanceRole distinguishes the primary from replicas.
	LabelPostgresInstanceRole = "cnpg.io/instanceRole"

	// PostgresRoleInstance is LabelPostgresRole of a PostgreSQL server.
	PostgresRoleInstance = "instance"

	// PostgresInstancePrimary and PostgresInstanceReplica are values of
	// LabelPostgresInstanceRole.
	PostgresInstancePrimary = "primary"
	PostgresInstanceReplica = "replica"
)

// postgresBootstrap is the init container of CloudNativePG's pods. It has the operator's
// image.
const postgresBootstrap = "bootstrap-controller"

// PostgresOperatorImage returns the image of the CloudNativePG that created the first of
// these pods; empty if it created none.
func PostgresOperatorImage(pods []corev1.Pod) string {
	for i := range pods {
		for _, container := range pods[i].Spec.InitContainers {
			if pods[i].Labels[LabelPostgresCluster] != "" && container.Name == postgresBootstrap {
				return container.Image
			}
		}
	}
	return ""
}

// PostgresPort is the port of every PostgreSQL Service.
const PostgresPort = 5432

// Keys of the Secret with the application's credentials.
const (
	PostgresSecretUsername = "username"
	PostgresSecretPassword = "password"
	PostgresSecretDatabase = "dbname"
)

// PostgresWriterService returns the Service of a Cluster's primary.
func PostgresWriterService(cluster string) string { return cluster + "-rw" }

// PostgresReaderService returns the Service of a Cluster's replicas. With one instance it
// has no endpoints.
func PostgresReaderService(cluster string) string { return cluster + "-ro" }

// PostgresWriterPooler returns the Pooler of a Cluster's primary, and its Service. A
// Pooler's name must not be that of a Cluster.
func PostgresWriterPooler(cluster string) string { return cluster + "-pooler-rw" }

// PostgresReaderPooler returns the Pooler of a Cluster's replicas, and its Service.
func PostgresReaderPooler(cluster string) string { return cluster + "-pooler-ro" }

// PostgresSecret returns the Secret with the credentials of the application's user.
func PostgresSecret(cluster string) string { return cluster + "-app" }

// PostgresCluster reads a CloudNativePG Cluster.
type PostgresCluster struct{ Object *unstructured.Unstructured }

// Ready reports whether every declared instance is ready and no switchover is running. A
// Cluster has no observedGeneration: right after an update the status may still be that of
// the previous spec.
func (c PostgresCluster) Ready() bool {
	return isReady(c.Object) &&
		c.ReadyInstances() == c.Instances() &&
		c.CurrentPrimary() != "" && c.CurrentPrimary() == c.TargetPrimary()
}

// HasStatus reports whether CloudNativePG has written a status.
func (c PostgresCluster) HasStatus() bool { return c.Phase() != "" || len(conditions(c.Object)) > 0 }

// LastTransition returns the time of the last transition; zero if there was none.
func (c PostgresCluster) LastTransition() time.Time { return lastTransition(c.Object) }

// Instances returns the number of declared instances.
func (c PostgresCluster) Instances() int64 { return number(c.Object, "spec", "instances") }

// ReadyInstances returns the number of ready instances.
func (c PostgresCluster) ReadyInstances() int64 { return number(c.Object, "status", "readyInstances") }

// Names reports whether CloudNativePG lists an instance of this name. While it lists none,
// any may exist.
func (c PostgresCluster) Names(instance string) bool {
	names, _ := field[[]any](c.Object, "status", "instanceNames")
	return len(names) == 0 || slices.Contains(names, any(instance))
}

// CurrentPrimary returns the primary; empty if there is none.
func (c PostgresCluster) CurrentPrimary() string { return text(c.Object, "status", "currentPrimary") }

// TargetPrimary returns the instance that is or becomes the primary; empty if there is none.
func (c PostgresCluster) TargetPrimary() string { return text(c.Object, "status", "targetPrimary") }

// TargetSince returns when the target primary was set; zero if unknown.
func (c PostgresCluster) TargetSince() time.Time {
	since, _ := time.Parse(metav1.RFC3339Micro, text(c.Object, "status", "targetPrimaryTimestamp"))
	return since
}

// Promote returns the Cluster with a status that asks CloudNativePG to make an instance the
// primary, as kubectl cnpg promote writes it.
func (c PostgresCluster) Promote(instance string, at time.Time) (*unstructured.Unstructured, error) {
	changed := c.Object.DeepCopy()
	for name, value := range map[string]string{
		"targetPrimary": instance, "targetPrimaryTimestamp": at.UTC().Format(metav1.RFC3339Micro),
		"phase": phaseSwitchover, "phaseReason": "Switching over to " + instance,
	} {
		if err := unstructured.SetNestedField(changed.Object, value, "status", name); err != nil {
			return nil, fmt.Errorf("the status of Cluster %q: %w", c.Object.GetName(), err)
		}
	}
	return changed, nil
}

// phaseSwitchover is CloudNativePG's phase of a switchover.
const phaseSwitchover = "Switchover in progress"

// Image returns the instances' image; empty if unknown.
func (c PostgresCluster) Image() string { return text(c.Object, "status", "image") }

// Phase returns CloudNativePG's phase.
func (c PostgresCluster) Phase() string { return text(c.Object, "status", "phase") }

// PhaseReason returns details about the phase, if any.
func (c PostgresCluster) PhaseReason() string { return text(c.Object, "status", "phaseReason") }

// stuckPhases are prefixes of phases that need an external change.
var stuckPhases = []string{
	"Unable to create required cluster objects",
	"Invalid cluster definition",
	"Cluster cannot proceed to reconciliation",
	"Cluster has incomplete or invalid image catalog",
	"Cluster is unrecoverable",
	"Cluster cannot execute instance online upgrade",
	"Waiting for user action",
}

// Stuck reports whether CloudNativePG has stopped reconciling the Cluster.
func (c PostgresCluster) Stuck() bool {
	for _, beginning := range stuckPhases {
		if strings.HasPrefix(c.Phase(), beginning) {
			return true
		}
	}
	return false
}

// PostgresPooler reads a CloudNativePG Pooler.
type PostgresPooler struct{ Object *unstructured.Unstructured }

// Instances returns the number of declared PgBouncers.
func (p PostgresPooler) Instances() int64 { return number(p.Object, "spec", "instances") }

// Phase returns the Pooler's phase: active when it is ready. Releases before 1.30 have
// none.
func (p PostgresPooler) Phase() string { return text(p.Object, "status", "phase") }

// PhaseReason returns details about the phase, if any.
func (p PostgresPooler) PhaseReason() string { return text(p.Object, "status", "phaseReason") }

// Serves reports whether the Pooler's status allows it to be ready, which its pods decide.
func (p PostgresPooler) Serves() bool { return p.Phase() == "" || p.Phase() == "active" }

// Failed reports whether CloudNativePG can't create the declared Pooler.
func (p PostgresPooler) Failed() bool { return p.Phase() == "failed" }
