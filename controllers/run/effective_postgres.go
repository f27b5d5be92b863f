// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/postgres"
	"perflab.dev/perflab/internal/prose"
)

// replicationPatience is how long replicas may take, once PostgreSQL is up,
// until they follow their primary as declared and tell of it.
const replicationPatience = time.Minute

// effectivePostgres reads from PostgreSQL's servers how they replicate. It says
// false, and tells why, while that may still change.
func (r *Reconciler) effectivePostgres(ctx context.Context, s *scope, effective *v1alpha1.EffectiveSystem) (bool, error) {
	request := s.request()
	if request.System.Postgres == nil {
		return true, nil
	}
	if addresses := postgres.ExternalAddresses(request); len(addresses) > 0 {
		effective.Postgres = &v1alpha1.EffectivePostgres{Unproved: fmt.Sprintf(
			"PostgreSQL at %s is not run by PerfLab, which does not ask it for more than a connection", prose.Enumerate(addresses))}
		return true, nil
	}
	object, err := r.Cluster.Get(ctx, contract.PostgresClusterKind, client.ObjectKey{Namespace: s.run.Namespace, Name: request.PostgresName()})
	if err != nil {
		return false, err
	}
	servers, err := r.postgresServers(ctx, request)
	if err != nil {
		return false, err
	}
	effective.PostgresInstances = int32(contract.PostgresCluster{Object: object}.ReadyInstances())
	effective.Postgres = postgres.Effective(servers)

	differences := postgres.Differences(request, effective.Postgres)
	settled := len(differences) == 0 && effective.Postgres.Unproved == ""
	if provisioned := s.status().Timings.Provisioned; !settled && provisioned != nil && s.now.Sub(provisioned.Time) < replicationPatience {
		doubts := differences
		if unproved := effective.Postgres.Unproved; unproved != "" {
			doubts = append(doubts, unproved)
		}
		unsettled := environment.NotReady(v1alpha1.ReasonNotReady, "PostgreSQL does not replicate as declared yet: "+strings.Join(doubts, "; "))
		s.tell(v1alpha1.ConditionPostgresReady, unsettled)
		return false, nil
	}
	s.differs(differences...)
	return true, nil
}

// postgresServers asks the instances of the run's PostgreSQL.
func (r *Reconciler) postgresServers(ctx context.Context, request environment.Request) ([]postgres.Server, error) {
	pods := &corev1.PodList{}
	err := r.Cluster.Client.List(ctx, pods, client.InNamespace(request.Namespace), client.MatchingLabels{
		contract.LabelPostgresCluster: request.PostgresName(),
		contract.LabelPostgresRole:    contract.PostgresRoleInstance,
	})
	if err != nil {
		return nil, fmt.Errorf("listing PostgreSQL's instances: %w", err)
	}
	servers := make([]postgres.Server, 0, len(pods.Items))
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.DeletionTimestamp != nil {
			continue
		}
		server := postgres.Server{Name: pod.Name}
		metrics, err := r.Databases.Metrics(ctx, metricsURL(pod))
		if err != nil {
			server.Silence = prose.Sentence(err.Error())
		}
		server.Metrics = metrics
		servers = append(servers, server)
	}
	return servers, nil
}

func metricsURL(pod *corev1.Pod) string {
	return "http://" + net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(contract.PostgresMetricsPort)) + "/metrics"
}

// stepReads finds out, once the loads are over, which servers the modules read
// from, and whether they still replicate as declared. A run whose reads went
// elsewhere, or whose replicas fell away, does not count.
func (r *Reconciler) stepReads(ctx context.Context, s *scope) (outcome, error) {
	effective := s.status().Effective
	if effective == nil || effective.Postgres == nil || len(effective.Postgres.Servers) == 0 {
		return next(), nil
	}
	request := s.request()
	servers, err := r.postgresServers(ctx, request)
	if err != nil {
		return outcome{}, err
	}
	proof := effective.Postgres
	s.differs(postgres.CountReads(proof, servers)...)
	s.differs(postgres.ReadDifferences(request, proof)...)
	s.differs(afterwards(postgres.Differences(request, postgres.Effective(servers)))...)
	s.judgeDifferences()
	return next(), nil
}
