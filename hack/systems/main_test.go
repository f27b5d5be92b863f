// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

const header = "module,task_def_revision,image,module_version,task_count,mem_hard_mib,mem_soft_mib,cpu_units,xmx_mib,metaspace_mib,max_metaspace_mib,note\n"

func TestRender(t *testing.T) {
	table := header +
		"mod-users,1,mod-users,19.3.0,2,1024,896,128,768,88,128,\n" +
		"mod-graphql,1,mod-graphql,1.0.0-SNAPSHOT.3,0,2048,1844,2048,0,0,0,\n" +
		"okapi-b,5,okapi,5.3.0,3,1684,1440,1024,922,0,512,\n" +
		"nginx-edge,3,nginx-edge,2023.06.14,2,1024,896,192,0,0,0,\n"
	modules, err := read(strings.NewReader(table))
	expect.NoError(t, err)
	var written strings.Builder
	expect.NoError(t, rendering.Execute(&written, modules))
	want := `  modules:
  - name: mod-graphql
    image: folioci/mod-graphql:1.0.0-SNAPSHOT.3
    replicas: 0
    resources: {requests: {cpu: "2", memory: 1844Mi}, limits: {memory: 2048Mi}}
  - name: mod-users
    image: folioorg/mod-users:19.3.0
    replicas: 2
    resources: {requests: {cpu: 125m, memory: 896Mi}, limits: {memory: 1024Mi}}
    jvm: {heap: {max: 768Mi}, metaspace: {initial: 88Mi, max: 128Mi}}
  - name: nginx-edge
    image: registry.example.org/nginx-edge:2023.06.14
    replicas: 2
    resources: {requests: {cpu: 187m, memory: 896Mi}, limits: {memory: 1024Mi}}
    port: 8080
    healthPath: /
  - name: okapi-b
    image: folioorg/okapi:5.3.0
    replicas: 3
    resources: {requests: {cpu: "1", memory: 1440Mi}, limits: {memory: 1684Mi}}
    jvm: {heap: {max: 922Mi}, metaspace: {max: 512Mi}}
    port: 9130
    healthPath: /_/version
`
	expect.Equal(t, want, written.String(), "modules")
}

func TestReadErrors(t *testing.T) {
	cases := map[string]struct{ table, want string }{
		"NoNumber": {header + "mod-users,1,mod-users,19.3.0,two,1024,896,128,768,88,128,\n", "row 2: column task_count"},
		"NoColumn": {"module,image\nmod-users,mod-users\n", "no such column: module_version"},
		"Ragged":   {header + "mod-users\n", "wrong number of fields"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := read(strings.NewReader(tc.table)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
