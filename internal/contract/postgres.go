// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
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
	// LabelPostgresRole tells instances from Poolers.
	LabelPostgresRole = "cnpg.io/podRole"
	// LabelPostgresPooler names the Pooler a pod belongs to.
	LabelPostgresPooler = "cnpg.io/poolerName"
	// LabelPostgresInstanceRole tells the primary from replicas.
	LabelPostgresInstanceRole = "cnpg.io/instanceRole"

	// PostgresRoleInstance is LabelPostgresRole of a PostgreSQL server.
	PostgresRoleInstance = "instance"

	// PostgresInstancePrimary and PostgresInstanceReplica are values of
	// LabelPostgresInstanceRole.
	PostgresInstancePrimary = "primary"
	PostgresInstanceReplica = "replica"
)

// postgresBootstrap is the container with which CloudNativePG prepares a pod. It
// has the operator's own image.
const postgresBootstrap = "bootstrap-controller"

// PostgresOperatorImage is the image of the CloudNativePG that made the first of
// these pods it has made; empty: it has made none.
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

// PostgresWriterService leads to the primary of a Cluster.
func PostgresWriterService(cluster string) string { return cluster + "-rw" }

// PostgresReaderService leads to the replicas of a Cluster. With one instance
// it leads nowhere.
func PostgresReaderService(cluster string) string { return cluster + "-ro" }

// PostgresWriterPooler is the Pooler before a Cluster's primary, and its
// Service. A Pooler's name must not be that of a Cluster.
func PostgresWriterPooler(cluster string) string { return cluster + "-pooler-rw" }

// PostgresReaderPooler is the Pooler before a Cluster's replicas, and its
// Service.
func PostgresReaderPooler(cluster string) string { return cluster + "-pooler-ro" }

// PostgresSecret holds the credentials of the application's user.
func PostgresSecret(cluster string) string { return cluster + "-app" }

// PostgresCluster reads a CloudNativePG Cluster.
type PostgresCluster struct{ Object *unstructured.Unstructured }

// Ready reports whether every declared instance is up and no switchover is on.
// A Cluster has no observedGeneration: right after an edit the answer may
// still be that of the spec before.
func (c PostgresCluster) Ready() bool {
	return isReady(c.Object) &&
		c.ReadyInstances() == c.Instances() &&
		c.CurrentPrimary() != "" && c.CurrentPrimary() == text(c.Object, "status", "targetPrimary")
}

// HasStatus reports whether CloudNativePG has said anything about the Cluster
// yet.
func (c PostgresCluster) HasStatus() bool { return c.Phase() != "" || len(conditions(c.Object)) > 0 }

// LastTransition is when CloudNativePG last changed its mind about the Cluster; zero:
// never.
func (c PostgresCluster) LastTransition() time.Time { return lastTransition(c.Object) }

// Instances is the number of declared instances.
func (c PostgresCluster) Instances() int64 { return number(c.Object, "spec", "instances") }

// ReadyInstances is the number of instances that are up.
func (c PostgresCluster) ReadyInstances() int64 { return number(c.Object, "status", "readyInstances") }

// Names reports whether CloudNativePG tells of an instance of this name. While it tells of
// none, it may be any.
func (c PostgresCluster) Names(instance string) bool {
	names, _ := field[[]any](c.Object, "status", "instanceNames")
	return len(names) == 0 || slices.Contains(names, any(instance))
}

// CurrentPrimary is the instance that takes writes, empty while there is none.
func (c PostgresCluster) CurrentPrimary() string { return text(c.Object, "status", "currentPrimary") }

// Image is the image the instances run, empty while unknown.
func (c PostgresCluster) Image() string { return text(c.Object, "status", "image") }

// Phase is what CloudNativePG is doing, in its own words.
func (c PostgresCluster) Phase() string { return text(c.Object, "status", "phase") }

// PhaseReason says more about the phase, if there is more to say.
func (c PostgresCluster) PhaseReason() string { return text(c.Object, "status", "phaseReason") }

// stuckPhases are the beginnings of phases that CloudNativePG does not leave
// by itself, or only when something outside it changes.
var stuckPhases = []string{
	"Unable to create required cluster objects",
	"Invalid cluster definition",
	"Cluster cannot proceed to reconciliation",
	"Cluster has incomplete or invalid image catalog",
	"Cluster is unrecoverable",
	"Cluster cannot execute instance online upgrade",
	"Waiting for user action",
}

// Stuck reports whether CloudNativePG refuses to go on with the Cluster.
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

// Instances is the number of declared PgBouncers.
func (p PostgresPooler) Instances() int64 { return number(p.Object, "spec", "instances") }

// Phase is what CloudNativePG makes of the Pooler: active when it serves.
// Releases before 1.30 say nothing.
func (p PostgresPooler) Phase() string { return text(p.Object, "status", "phase") }

// PhaseReason says more about the phase, if there is more to say.
func (p PostgresPooler) PhaseReason() string { return text(p.Object, "status", "phaseReason") }

// Serves reports whether CloudNativePG takes the Pooler for one that serves,
// as far as it says so. Whether its pods do is for the pods to tell.
func (p PostgresPooler) Serves() bool { return p.Phase() == "" || p.Phase() == "active" }

// Failed reports whether CloudNativePG can't make the Pooler as declared.
func (p PostgresPooler) Failed() bool { return p.Phase() == "failed" }
