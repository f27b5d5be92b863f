// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/text/prose"
)

// strayReads is the number of rows that replicas may serve unintentionally: to a user, or a
// module's one-time query.
const strayReads = 100

// Server holds the metrics of one instance, or the reason why there are none.
type Server struct {
	// Name of the instance's pod.
	Name string
	// Metrics of the instance.
	Metrics contract.PostgresMetrics
	// Silence is the reason for missing metrics; empty if there are any.
	Silence string
}

// Effective summarizes the instances' metrics before the load. Missing values are absent
// and listed in unproved.
func Effective(servers []Server) *v1alpha1.EffectivePostgres {
	effective := &v1alpha1.EffectivePostgres{Unproved: unproved(servers)}
	for _, server := range sorted(servers) {
		replica := server.Metrics.InRecovery
		if replica == nil {
			continue
		}
		effective.Servers = append(effective.Servers, v1alpha1.EffectiveServer{
			Name: server.Name, Replica: *replica, RowsRead: server.Metrics.RowsRead,
		})
		if !*replica {
			effective.StreamingReplicas = server.Metrics.StreamingReplicas
			effective.SynchronousReplicas = server.Metrics.SynchronousReplicas
		}
	}
	return effective
}

func unproved(servers []Server) string {
	var reasons []string
	for _, server := range sorted(servers) {
		switch {
		case server.Silence != "":
			reasons = append(reasons, fmt.Sprintf("the metrics of %s can't be read: %s", server.Name, server.Silence))
		case server.Metrics.InRecovery == nil || server.Metrics.RowsRead == nil:
			reasons = append(reasons, fmt.Sprintf("the metrics of %s lack those of PerfLab's queries (ConfigMap <cluster>-queries)", server.Name))
		}
	}
	return prose.Enumerate(reasons)
}

func sorted(servers []Server) []Server {
	return slices.SortedFunc(slices.Values(servers), func(a, b Server) int { return cmp.Compare(a.Name, b.Name) })
}

// Differences returns the differences between the servers and the declaration. Unknown
// values are no difference.
func Differences(req environment.Request, effective *v1alpha1.EffectivePostgres) []string {
	if !isOurs(req.System.Postgres) {
		return nil
	}
	cluster := Build(req)[0]
	replicas := number(cluster, "spec", "instances") - 1
	wanted := number(cluster, "spec", "postgresql", "synchronous", "number")
	var differences []string
	if got := effective.StreamingReplicas; got != nil && int64(*got) != replicas {
		differences = append(differences, fmt.Sprintf("%s %s PostgreSQL's primary, but %d %s declared",
			prose.Counted(*got, "replica"), prose.Verb(*got, "follows", "follow"), replicas, prose.Verb(replicas, "is", "are")))
	}
	got := effective.SynchronousReplicas
	switch {
	case got == nil:
	case wanted > 0 && int64(*got) < wanted:
		differences = append(differences, fmt.Sprintf(
			"a commit waits for %s, but postgres.readWriteSplit.synchronous declares %d", prose.Counted(*got, "replica"), wanted))
	case wanted == 0 && *got > 0:
		differences = append(differences, fmt.Sprintf(
			"a commit waits for %s, but postgres.readWriteSplit.synchronous is not declared", prose.Counted(*got, "replica")))
	}
	return differences
}

// CountReads fills in the rows read during the load, from the metrics before and after it.
// It returns what happened to servers for which that is impossible.
func CountReads(effective *v1alpha1.EffectivePostgres, after []Server) (differences []string) {
	var onPrimary, onReplicas int64
	counted := len(effective.Servers) > 0
	for _, before := range effective.Servers {
		at := slices.IndexFunc(after, func(server Server) bool { return server.Name == before.Name })
		if at < 0 {
			differences = append(differences, fmt.Sprintf("PostgreSQL's instance %s was deleted during the load", before.Name))
			counted = false
			continue
		}
		now := after[at].Metrics
		if now.InRecovery != nil && *now.InRecovery != before.Replica {
			differences = append(differences, fmt.Sprintf("PostgreSQL's instance %s changed from %s to %s during the load",
				before.Name, role(before.Replica), role(*now.InRecovery)))
		}
		switch {
		case before.RowsRead == nil || now.RowsRead == nil:
			counted = false
		case *now.RowsRead < *before.RowsRead:
			differences = append(differences, fmt.Sprintf("PostgreSQL's instance %s restarted during the load", before.Name))
			counted = false
		case before.Replica:
			onReplicas += *now.RowsRead - *before.RowsRead
		default:
			onPrimary += *now.RowsRead - *before.RowsRead
		}
	}
	if counted {
		effective.ReplicaReads, effective.PrimaryReads = &onReplicas, &onPrimary
	} else if effective.Unproved == "" {
		effective.Unproved = cmp.Or(unproved(after), "the row counts of some instances are unknown")
	}
	return differences
}

func role(replica bool) string {
	if replica {
		return "replica"
	}
	return "primary"
}

// ReadDifferences returns reads that went to the wrong servers.
func ReadDifferences(req environment.Request, effective *v1alpha1.EffectivePostgres) []string {
	if !isOurs(req.System.Postgres) || effective.ReplicaReads == nil {
		return nil
	}
	reads, readers := *effective.ReplicaReads, ReplicaReaders(req)
	switch {
	case len(readers) > 0 && reads == 0:
		return []string{fmt.Sprintf("no module read from a replica: postgres.readWriteSplit is enabled for %s, but the replicas read no rows during the load",
			prose.Enumerate(readers))}
	case len(readers) == 0 && reads > strayReads:
		return []string{fmt.Sprintf("replicas read %s during the load, although postgres.readWriteSplit routes no module to them", prose.Counted(reads, "row"))}
	default:
		return nil
	}
}

func number(object *unstructured.Unstructured, path ...string) int64 {
	value, _, err := unstructured.NestedInt64(object.Object, path...)
	if err != nil {
		// A patch may set another type, which CloudNativePG rejects.
		return 0
	}
	return value
}
