// SPDX-License-Identifier: Apache-2.0

package modules_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/modules"
	"perflab.dev/perflab/internal/testing/yamlcmp"
)

// An image of which nobody thought when PerfLab was made.
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
