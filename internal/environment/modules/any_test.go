// SPDX-License-Identifier: Apache-2.0

package modules_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/jvm"
	"perflab.dev/perflab/internal/environment/modules"
	"perflab.dev/perflab/internal/testing/yamlcmp"
)

// An image without any of FOLIO's conventions works.
func TestBuildOfAnyImage(t *testing.T) {
	req := request(v1alpha1.System{
		Target: v1alpha1.Target{Module: "auth"},
		Modules: []v1alpha1.Module{{
			Name: "auth", Image: "example.org/auth:1", Port: 8080, HealthPath: "/health/ready", HealthPort: ptr.To[int32](9000),
			Command: []string{"/opt/auth/bin/kc.sh"}, Args: []string{"start", "--optimized"},
			Ports: []v1alpha1.ModulePort{{Name: "management", Port: 9000}},
			Volumes: []v1alpha1.ModuleVolume{
				{Name: "realm", MountPath: "/opt/auth/data/import/lab.json", SubPath: "lab.json", ConfigMap: &v1alpha1.VolumeObject{Name: "realm"}},
				{Name: "keys", MountPath: "/keys", Secret: &v1alpha1.VolumeObject{Name: "keys"}},
				{Name: "scratch", MountPath: "/tmp", EmptyDir: &v1alpha1.EmptyDir{Memory: true, SizeLimit: ptr.To(resource.MustParse("64Mi"))}},
				{Name: "data", MountPath: "/data", PersistentVolumeClaim: &v1alpha1.VolumeClaim{ClaimName: "data"}},
			},
		}},
	})
	intents := modules.Build(req, "")
	pod := intents[0].Object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	container := pod["containers"].([]any)[0].(map[string]any)
	yamlcmp.Equal(t, container["command"], `[/opt/auth/bin/kc.sh]`)
	yamlcmp.Equal(t, container["args"], `[start, --optimized]`)
	yamlcmp.Equal(t, container["readinessProbe"].(map[string]any)["httpGet"], `{path: /health/ready, port: 9000, scheme: HTTP}`)
	yamlcmp.Equal(t, container["livenessProbe"].(map[string]any)["tcpSocket"], `{port: http}`)
	yamlcmp.Equal(t, container["ports"], `[{name: http, containerPort: 8080, protocol: TCP}, {name: management, containerPort: 9000, protocol: TCP}]`)
	yamlcmp.Equal(t, container["volumeMounts"], `
- {name: realm, mountPath: /opt/auth/data/import/lab.json, subPath: lab.json, readOnly: true}
- {name: keys, mountPath: /keys, readOnly: true}
- {name: scratch, mountPath: /tmp}
- {name: data, mountPath: /data}
`)
	yamlcmp.Equal(t, pod["volumes"], `
- {name: realm, configMap: {name: realm}}
- {name: keys, secret: {secretName: keys}}
- {name: scratch, emptyDir: {medium: Memory, sizeLimit: 64Mi}}
- {name: data, persistentVolumeClaim: {claimName: data}}
`)
	yamlcmp.Equal(t, intents[1].Object["spec"].(map[string]any)["ports"], `
- {name: http, port: 8080, protocol: TCP, targetPort: http}
- {name: management, port: 9000, protocol: TCP, targetPort: management}
`)
}

// A module without a health path is ready when it accepts connections.
func TestReadinessWithoutHealthPath(t *testing.T) {
	for want, module := range map[string]v1alpha1.Module{
		`{port: http}`: {Name: "shop", Image: "example.org/shop:1", Port: 8080},
		`{port: 9000}`: {Name: "shop", Image: "example.org/shop:1", Port: 8080, HealthPort: ptr.To[int32](9000)},
	} {
		built := modules.Build(request(v1alpha1.System{Target: v1alpha1.Target{Module: "shop"}, Modules: []v1alpha1.Module{module}}), "")
		pod := built[0].Object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
		container := pod["containers"].([]any)[0].(map[string]any)
		for _, probe := range []string{"startupProbe", "readinessProbe"} {
			yamlcmp.Equal(t, container[probe].(map[string]any)["tcpSocket"], want)
		}
	}
}

func TestHeap(t *testing.T) {
	limited := func(memory string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}}
	}
	share := &v1alpha1.JVM{Heap: &v1alpha1.Heap{MaxRAMPercentage: "66"}}
	cases := map[string]struct {
		module v1alpha1.Module
		// want in MiB.
		want   int64
		source jvm.Source
		err    error
	}{
		"Size":       {module: v1alpha1.Module{JVM: &v1alpha1.JVM{Heap: &v1alpha1.Heap{Max: ptr.To(resource.MustParse("922Mi"))}}}, want: 922, source: jvm.SourceSize},
		"Percentage": {module: v1alpha1.Module{Resources: limited("1536Mi"), JVM: share}, want: 1014, source: jvm.SourcePercentage},
		"Default":    {module: v1alpha1.Module{Resources: limited("1Gi")}, want: 256, source: jvm.SourceDefault},
		"OwnOptions": {
			module: v1alpha1.Module{Resources: limited("1Gi"), JVM: share, Env: []corev1.EnvVar{{Name: "JAVA_OPTIONS", Value: "-Xmx100m"}}},
			want:   100, source: jvm.SourceSize,
		},
		"NoLimit": {module: v1alpha1.Module{JVM: share}, err: jvm.ErrMemoryUnknown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			heap, err := modules.Heap(tc.module)
			if !errors.Is(err, tc.err) || heap.Bytes != tc.want<<20 || heap.Source != tc.source {
				t.Errorf("%d MiB from %q (%v), want %d from %q (%v)", heap.Bytes>>20, heap.Source, err, tc.want, tc.source, tc.err)
			}
		})
	}
}
