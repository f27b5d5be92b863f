// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/crds"
)

// operatorUser is the operator's user at the API server. Nothing else uses it, so the audit log
// has only the operator's requests.
const operatorUser = "perflab-operator"

// auditPolicy logs the operator's requests when the API server answers them.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, users: [` + operatorUser + `]}
- {level: None}
`

// cluster is an API server with its own etcd, without kubelets and controllers.
type cluster struct {
	environment *envtest.Environment
	config      *rest.Config
	// admin fills the cluster.
	admin client.Client
	// kubeconfig is the path of a file for the operator, audit the path of the log of its
	// requests.
	kubeconfig, audit string
	// keep stores an object unchanged, with its status.
	keep func(ctx context.Context, object client.Object) error
}

// startCluster starts a cluster with its files in dir.
func startCluster(ctx context.Context, dir string) (*cluster, error) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		return nil, errors.New(`KUBEBUILDER_ASSETS is not set, so there is no kube-apiserver: run "make bench-scale", or export KUBEBUILDER_ASSETS="$(hack/cluster/envtest.sh)"`)
	}
	crds, err := crds.All(filepath.Join(dir, "crds"))
	if err != nil {
		return nil, err
	}
	c := &cluster{audit: filepath.Join(dir, "audit.log"), kubeconfig: filepath.Join(dir, "kubeconfig")}
	c.keep = c.put
	c.environment = &envtest.Environment{
		CRDDirectoryPaths:     append(crds, apiserver.Root("config", "crd")),
		ErrorIfCRDPathMissing: true, ControlPlaneStartTimeout: 2 * time.Minute, ControlPlaneStopTimeout: time.Minute,
	}
	if err := c.configure(dir); err != nil {
		return nil, err
	}
	if c.config, err = c.environment.Start(); err != nil {
		return nil, fmt.Errorf("starting the API server: %w", errors.Join(err, c.environment.Stop()))
	}
	// The benchmark's client must not be throttled.
	c.config.QPS = -1
	if err := c.open(ctx); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

func (c *cluster) configure(dir string) error {
	policy := filepath.Join(dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return err
	}
	c.environment.ControlPlane.GetAPIServer().Configure().
		Set("audit-policy-file", policy).Set("audit-log-path", c.audit).Set("audit-log-maxsize", "4096").
		// The requests that fill the cluster are not throttled.
		Set("max-requests-inflight", "0").Set("max-mutating-requests-inflight", "0").Set("enable-priority-and-fairness", "false")
	c.environment.ControlPlane.Etcd = &envtest.Etcd{}
	c.environment.ControlPlane.Etcd.Configure().Set("quota-backend-bytes", fmt.Sprint(64<<30))
	return nil
}

// open creates the clients, and binds the operator's role.
func (c *cluster) open(ctx context.Context) error {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return err
	}
	var err error
	if c.admin, err = client.New(c.config, client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	user, err := c.environment.AddUser(envtest.User{Name: operatorUser}, c.config)
	if err != nil {
		return fmt.Errorf("creating the operator's user: %w", err)
	}
	text, err := user.KubeConfig()
	if err != nil {
		return fmt.Errorf("writing the operator's kubeconfig: %w", err)
	}
	if err := os.WriteFile(c.kubeconfig, text, 0o600); err != nil {
		return err
	}
	return c.allow(ctx)
}

// allow binds the role that the project ships.
func (c *cluster) allow(ctx context.Context) error {
	text, err := os.ReadFile(apiserver.Root("config", "rbac", "role.yaml"))
	if err != nil {
		return err
	}
	role := &rbacv1.ClusterRole{}
	if err := yaml.UnmarshalStrict(text, role); err != nil {
		return fmt.Errorf("reading the operator's role: %w", err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: operatorUser}},
	}
	return errors.Join(c.admin.Create(ctx, role), c.admin.Create(ctx, binding), c.namespace(ctx, home))
}

func (c *cluster) namespace(ctx context.Context, name string) error {
	return c.admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

func (c *cluster) stop() error { return c.environment.Stop() }

// stored returns the size of etcd's database in bytes, with only the last version of each
// object. It reads until two readings agree, because the API server may still write its own
// objects, and etcd frees pages only with later writes.
func (c *cluster) stored(ctx context.Context) (float64, error) {
	const (
		readings = 60
		// The API server's leases change some of etcd's pages of 4 KiB.
		agree = 64 << 10
	)
	before := math.Inf(1)
	for range readings {
		now, err := c.compacted(ctx)
		if err != nil || math.Abs(now-before) <= agree {
			return now, err
		}
		before = now
	}
	return 0, fmt.Errorf("etcd's size did not settle in %d readings", readings)
}

// compacted compacts etcd and returns its size in bytes.
func (c *cluster) compacted(ctx context.Context) (float64, error) {
	url := c.etcd()
	// write writes a key of the benchmark, with the same size each time.
	write := func(at any) error { return c.putBytes(ctx, "bench", []byte("x"), at) }
	var at struct {
		Header struct {
			Revision string `json:"revision"`
		} `json:"header"`
	}
	if err := write(&at); err != nil {
		return 0, err
	}
	if err := post(ctx, url+"/v3/kv/compaction", fmt.Sprintf(`{"revision": %q, "physical": true}`, at.Header.Revision), nil); err != nil {
		return 0, err
	}
	// Pages that a write frees are available to the next write. etcd writes its file ten times
	// a second.
	for range 4 {
		time.Sleep(time.Second / 4)
		if err := write(nil); err != nil {
			return 0, err
		}
	}
	time.Sleep(time.Second)
	found, err := scrape(ctx, url+"/metrics")
	if err != nil {
		return 0, err
	}
	return found.sum("etcd_mvcc_db_total_size_in_use_in_bytes", nil), nil
}
