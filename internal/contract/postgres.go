// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// PostgresClusterKind is CloudNativePG's Cluster.
var PostgresClusterKind = schema.GroupVersionKind{Group: "postgresql.cnpg.io", Version: "v1", Kind: "Cluster"}

// LabelPostgresCluster names the Cluster a pod belongs to.
const LabelPostgresCluster = "cnpg.io/cluster"

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

// Instances is the number of declared instances.
func (c PostgresCluster) Instances() int64 { return number(c.Object, "spec", "instances") }

// ReadyInstances is the number of instances that are up.
func (c PostgresCluster) ReadyInstances() int64 { return number(c.Object, "status", "readyInstances") }

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
