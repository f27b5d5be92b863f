// SPDX-License-Identifier: Apache-2.0

package modules_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/modules"
)

func TestAdoptedEnvSetsOnlyDeclaredVariables(t *testing.T) {
	external := func(split *v1alpha1.ReadWriteSplit) *v1alpha1.Postgres {
		return &v1alpha1.Postgres{
			Provider: v1alpha1.PostgresProviderExternal, ReadWriteSplit: split,
			External: &v1alpha1.ExternalPostgres{Host: "rds", Port: 5432, ReaderHost: "rds-ro", ReaderPort: 5433, Database: "folio"},
		}
	}
	cases := map[string]struct {
		postgres *v1alpha1.Postgres
		want     map[string]string
	}{
		"nothing":              {},
		"a server, no split":   {postgres: external(nil)},
		"its reads on replica": {postgres: external(&v1alpha1.ReadWriteSplit{Enabled: true}), want: map[string]string{"DB_HOST_READER": "rds-ro", "DB_PORT_READER": "5433"}},
		"left out of the split": {
			postgres: external(&v1alpha1.ReadWriteSplit{Enabled: true, Exclude: []string{"mod-pubsub"}}),
			want:     map[string]string{"DB_HOST_READER": "rds", "DB_PORT_READER": "5432"},
		},
		"a server PerfLab builds": {
			postgres: &v1alpha1.Postgres{Instances: 1},
			want: map[string]string{
				"DB_HOST": "demo-pg-rw", "DB_PORT": "5432", "DB_DATABASE": "", "DB_USERNAME": "", "DB_PASSWORD": "",
				"DB_HOST_READER": "demo-pg-rw", "DB_PORT_READER": "5432",
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			module := v1alpha1.Module{Name: "mod-pubsub", WorkloadRef: &v1alpha1.WorkloadRef{Name: "mod-pubsub"}}
			req := request(v1alpha1.System{Postgres: c.postgres, Modules: []v1alpha1.Module{module}})
			got := map[string]string{}
			for _, variable := range modules.AdoptedEnv(req, env, module) {
				got[variable.Name] = variable.Value
			}
			if !maps.Equal(got, c.want) {
				t.Errorf("not as wanted (-want +got):\n%s", cmp.Diff(c.want, got))
			}
		})
	}
}

func TestBuildSkipsAdoptedModules(t *testing.T) {
	declared := system()
	declared.Modules[0].Image, declared.Modules[0].WorkloadRef = "", &v1alpha1.WorkloadRef{Name: "mine"}
	for _, intent := range modules.Build(request(declared), env) {
		if intent.GetLabels()[v1alpha1.LabelModule] == declared.Modules[0].Name {
			t.Errorf("%s %s was made for a module that is already there", intent.GetKind(), intent.GetName())
		}
	}
}
