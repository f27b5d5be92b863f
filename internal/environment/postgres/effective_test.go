// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment/postgres"
	"perflab.dev/perflab/internal/testing/expect"
)

func primary(streaming, synchronous int32, rows int64) postgres.Server {
	return postgres.Server{Name: "demo-pg-1", Metrics: contract.PostgresMetrics{
		InRecovery: ptr.To(false), StreamingReplicas: &streaming, SynchronousReplicas: &synchronous, RowsRead: &rows,
	}}
}

func replica(name string, rows int64) postgres.Server {
	// A replica has no replicas of its own.
	return postgres.Server{Name: name, Metrics: contract.PostgresMetrics{
		InRecovery: ptr.To(true), StreamingReplicas: ptr.To[int32](0), SynchronousReplicas: ptr.To[int32](0), RowsRead: &rows,
	}}
}

func TestEffective(t *testing.T) {
	got := postgres.Effective([]postgres.Server{replica("demo-pg-2", 5), primary(1, 1, 70)})
	want := &v1alpha1.EffectivePostgres{
		StreamingReplicas: ptr.To[int32](1), SynchronousReplicas: ptr.To[int32](1),
		Servers: []v1alpha1.EffectiveServer{
			{Name: "demo-pg-1", RowsRead: ptr.To[int64](70)},
			{Name: "demo-pg-2", Replica: true, RowsRead: ptr.To[int64](5)},
		},
	}
	expect.Equal(t, want, got)
}

// Missing metrics prove nothing, and are no difference.
func TestEffectiveWithoutMetrics(t *testing.T) {
	for what, servers := range map[string][]postgres.Server{
		"the metrics of demo-pg-1 can't be read: connection refused": {{Name: "demo-pg-1", Silence: "connection refused"}},
		"the metrics of demo-pg-1 lack those of PerfLab's queries":   {{Name: "demo-pg-1"}},
	} {
		got := postgres.Effective(servers)
		if !strings.HasPrefix(got.Unproved, what) || got.StreamingReplicas != nil || len(got.Servers) != 0 {
			t.Errorf("%+v, want it unproved because %s", got, what)
		}
		if differences := postgres.Differences(request(large()), got); len(differences) != 0 {
			t.Errorf("differences %q of what is not known", differences)
		}
		if differences := postgres.CountReads(got, servers); len(differences) != 0 || got.ReplicaReads != nil {
			t.Errorf("reads %v with differences %q of what is not known", got.ReplicaReads, differences)
		}
	}
}

func TestDifferences(t *testing.T) {
	declared := func(split *v1alpha1.ReadWriteSplit) *v1alpha1.Postgres {
		return &v1alpha1.Postgres{Instances: 3, ReadWriteSplit: split}
	}
	synchronous := declared(&v1alpha1.ReadWriteSplit{Enabled: true, Synchronous: true})
	cases := map[string]struct {
		declared               *v1alpha1.Postgres
		streaming, synchronous int32
		want                   []string
	}{
		"Asynchronous":   {declared: declared(nil), streaming: 2},
		"Synchronous":    {declared: synchronous, streaming: 2, synchronous: 2},
		"TooFew":         {declared: declared(nil), streaming: 1, want: []string{"1 replica follows PostgreSQL's primary, but 2 are declared"}},
		"NotWaiting":     {declared: synchronous, streaming: 2, synchronous: 1, want: []string{"a commit waits for 1 replica, but postgres.readWriteSplit.synchronous declares 2"}},
		"WaitingUnasked": {declared: declared(nil), streaming: 2, synchronous: 1, want: []string{"a commit waits for 1 replica, but postgres.readWriteSplit.synchronous is not declared"}},
		"Both": {declared: synchronous, want: []string{
			"0 replicas follow PostgreSQL's primary, but 2 are declared", "a commit waits for 0 replicas, but postgres.readWriteSplit.synchronous declares 2",
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			effective := postgres.Effective([]postgres.Server{primary(tc.streaming, tc.synchronous, 0)})
			expect.Equal(t, tc.want, postgres.Differences(request(tc.declared), effective))
		})
	}
}

func TestReads(t *testing.T) {
	on, off := &v1alpha1.ReadWriteSplit{Enabled: true}, &v1alpha1.ReadWriteSplit{}
	cases := map[string]struct {
		split    *v1alpha1.ReadWriteSplit
		after    []postgres.Server
		replica  *int64
		unproved bool
		want     string
	}{
		"Split":      {split: on, after: []postgres.Server{primary(1, 0, 100), replica("demo-pg-2", 905)}, replica: ptr.To[int64](900)},
		"NoneThere":  {split: on, after: []postgres.Server{primary(1, 0, 999), replica("demo-pg-2", 5)}, replica: ptr.To[int64](0), want: "no module read from a replica: postgres.readWriteSplit is enabled for mod-users, but the replicas read no rows during the load"},
		"Off":        {split: off, after: []postgres.Server{primary(1, 0, 999), replica("demo-pg-2", 5)}, replica: ptr.To[int64](0)},
		"Stray":      {split: off, after: []postgres.Server{primary(1, 0, 999), replica("demo-pg-2", 25)}, replica: ptr.To[int64](20)},
		"Unwanted":   {split: off, after: []postgres.Server{primary(1, 0, 999), replica("demo-pg-2", 505)}, replica: ptr.To[int64](500), want: "replicas read 500 rows during the load, although postgres.readWriteSplit routes no module to them"},
		"StartedNew": {split: on, after: []postgres.Server{primary(1, 0, 100), replica("demo-pg-2", 2)}, unproved: true, want: "PostgreSQL's instance demo-pg-2 restarted during the load"},
		"Gone":       {split: on, after: []postgres.Server{primary(1, 0, 100)}, unproved: true, want: "PostgreSQL's instance demo-pg-2 was deleted during the load"},
		"Silent":     {split: on, after: []postgres.Server{primary(1, 0, 100), {Name: "demo-pg-2", Silence: "timeout"}}, unproved: true},
		"Switched": {
			split: on, after: []postgres.Server{replica("demo-pg-1", 100), renamed(primary(1, 0, 35), "demo-pg-2")}, replica: ptr.To[int64](30),
			want: "PostgreSQL's instance demo-pg-1 changed from primary to replica during the load",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := request(&v1alpha1.Postgres{Instances: 2, ReadWriteSplit: tc.split})
			req.System.Modules = []v1alpha1.Module{{Name: "mod-users"}}
			effective := postgres.Effective([]postgres.Server{primary(1, 0, 70), replica("demo-pg-2", 5)})
			differences := append(postgres.CountReads(effective, tc.after), postgres.ReadDifferences(req, effective)...)
			if got := strings.Join(differences, "; "); !strings.HasPrefix(got, tc.want) || got != "" && tc.want == "" {
				t.Errorf("differences %q, want %q", got, tc.want)
			}
			if diff := cmp.Diff(tc.replica, effective.ReplicaReads); diff != "" || (effective.Unproved != "") != tc.unproved {
				t.Errorf("replica reads, unproved %q (-want +got):\n%s", effective.Unproved, diff)
			}
		})
	}
}

func renamed(server postgres.Server, name string) postgres.Server {
	server.Name = name
	return server
}
