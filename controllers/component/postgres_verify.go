// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/postgres"
	"perflab.dev/perflab/internal/load/faults"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/text/prose"
)

// replicationTimeout bounds how long replicas take to replicate as declared once PostgreSQL is
// ready.
const replicationTimeout = time.Minute

// Verify reads from the servers how they replicate, and waits while that may still change.
func (d postgresCluster) Verify(ctx context.Context, p *Scope, record *v1alpha1.EffectiveSystem) (Verification, error) {
	request := p.Request()
	if request.System.Postgres == nil {
		return Verification{}, nil
	}
	if addresses := postgres.ExternalAddresses(request); len(addresses) > 0 {
		record.Postgres = &v1alpha1.EffectivePostgres{Unproved: fmt.Sprintf(
			"PostgreSQL at %s is external: PerfLab only checks that it accepts connections", prose.Enumerate(addresses))}
		return Verification{}, nil
	}
	object, err := p.GetOwned(ctx, contract.PostgresClusterKind, request.PostgresName())
	if err != nil {
		return Verification{}, err
	}
	servers, err := d.servers(ctx, p)
	if err != nil {
		return Verification{}, err
	}
	record.PostgresInstances = int32(contract.PostgresCluster{Object: object}.ReadyInstances())
	record.Postgres = postgres.Effective(servers)
	proof := Verification{Differences: postgres.Differences(request, record.Postgres)}
	if doubts := pendingDifferences(proof, record.Postgres); len(doubts) > 0 && p.within(replicationTimeout, p.Run.Status.Timings.Provisioned) {
		return pending(environment.NotReady(v1alpha1.ReasonNotReady, "PostgreSQL replication is not yet as declared: "+strings.Join(doubts, "; "))), nil
	}
	proof.Pods, err = d.runningPods(ctx, p)
	record.PostgresPods = environment.EffectivePods(proof.Pods)
	return proof, err
}

// pendingDifferences are the differences, and what could not be read.
func pendingDifferences(proof Verification, found *v1alpha1.EffectivePostgres) []string {
	if found.Unproved == "" {
		return proof.Differences
	}
	return append(slices.Clone(proof.Differences), found.Unproved)
}

// VerifyAfterLoad counts from which servers the modules have read, and compares the replication
// again. A run with other reads, or fewer replicas, is invalid.
func (d postgresCluster) VerifyAfterLoad(ctx context.Context, p *Scope, record *v1alpha1.EffectiveSystem) (Verification, error) {
	found := record.Postgres
	if found == nil || len(found.Servers) == 0 {
		return Verification{}, nil
	}
	servers, err := d.servers(ctx, p)
	if err != nil {
		return Verification{}, err
	}
	changed := postgres.CountReads(found, servers)
	if faults.StrikesPostgres(&p.Run.Spec.Scenario) {
		// Roles have changed, and replicas may still be catching up.
		return Verification{}, nil
	}
	return Verification{Differences: slices.Concat(
		changed,
		postgres.ReadDifferences(p.Request(), found),
		markAfterLoad(postgres.Differences(p.Request(), postgres.Effective(servers))),
	)}, nil
}

// CountRestarts counts the restarts of the instances.
func (d postgresCluster) CountRestarts(ctx context.Context, p *Scope, record *v1alpha1.EffectiveSystem) ([]environment.Restarted, error) {
	pods, err := d.runningPods(ctx, p)
	record.PostgresRestarts = environment.Restarts(record.PostgresPods, record.MorePods, pods)
	return []environment.Restarted{{Part: "PostgreSQL", Times: record.PostgresRestarts, Pods: pods}}, err
}

// instances returns the pods of the run's Cluster: it controls them, and its status names them.
func (d postgresCluster) instances(ctx context.Context, p *Scope) ([]corev1.Pod, error) {
	_, pods, err := d.clusterInstances(ctx, p)
	return pods, err
}

// clusterInstances returns the instances with their Cluster; no pods if there is none.
func (postgresCluster) clusterInstances(ctx context.Context, p *Scope) (contract.PostgresCluster, []corev1.Pod, error) {
	object, err := p.GetOwned(ctx, contract.PostgresClusterKind, p.Request().PostgresName())
	cluster := contract.PostgresCluster{Object: object}
	if err != nil || object == nil {
		return cluster, nil, err
	}
	pods, err := p.pods(ctx, map[string]string{
		contract.LabelPostgresCluster: object.GetName(), contract.LabelPostgresRole: contract.PostgresRoleInstance,
	})
	return cluster, slices.DeleteFunc(NewLineage(object).Pods(pods), func(pod corev1.Pod) bool { return !cluster.Names(pod.Name) }), err
}

// runningPods returns the running instances and poolers.
func (d postgresCluster) runningPods(ctx context.Context, p *Scope) ([]corev1.Pod, error) {
	pods, err := d.instances(ctx, p)
	if err != nil {
		return nil, err
	}
	poolers, err := d.poolers(ctx, p)
	return runningPods(append(pods, poolers...)), err
}

// poolers returns the pods of the run's Poolers.
func (postgresCluster) poolers(ctx context.Context, p *Scope) ([]corev1.Pod, error) {
	request := p.Request()
	made, err := p.Cluster.ListOwned(ctx, p.Experiment, contract.PostgresPoolerKind, naming.ComponentLabels(request.Experiment, environment.ComponentPostgres))
	if err != nil || len(made) == 0 {
		return nil, err
	}
	lineage := Lineage{}
	lineage.addAll(made)
	deployments, err := p.Cluster.List(ctx, deploymentKind, request.Namespace, nil)
	if err != nil {
		return nil, err
	}
	addMatching(lineage, deployments, lineage.Controls)
	if err := p.addReplicaSets(ctx, lineage); err != nil {
		return nil, err
	}
	pods, err := p.Cluster.Pods(ctx, request.Namespace, client.MatchingLabels{contract.LabelPostgresCluster: request.PostgresName()}, client.HasLabels{contract.LabelPostgresPooler})
	return lineage.Pods(pods), err
}

// servers reads the metrics of the instances.
func (d postgresCluster) servers(ctx context.Context, p *Scope) ([]postgres.Server, error) {
	pods, err := d.instances(ctx, p)
	servers := make([]postgres.Server, 0, len(pods))
	for i := range pods {
		if pods[i].DeletionTimestamp != nil {
			continue
		}
		server := postgres.Server{Name: pods[i].Name}
		metrics, err := p.Databases.Metrics(ctx, metricsURL(&pods[i]))
		if err != nil {
			server.Silence = prose.Sentence(err.Error())
		}
		server.Metrics = metrics
		servers = append(servers, server)
	}
	return servers, err
}

func metricsURL(pod *corev1.Pod) string {
	return "http://" + net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(contract.PostgresMetricsPort)) + "/metrics"
}
