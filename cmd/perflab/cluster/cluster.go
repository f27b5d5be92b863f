// SPDX-License-Identifier: Apache-2.0

// Package cluster connects commands to a cluster, and reads experiments from it.
package cluster

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
)

// Cluster is the cluster of a command, selected as in kubectl: by --kubeconfig, --context,
// --namespace and KUBECONFIG.
type Cluster struct {
	Flags *genericclioptions.ConfigFlags
}

// shownFlags are kubectl's flags that --help lists. The others work too, but
// would hide the command's own flags.
var shownFlags = []string{"context", "kubeconfig", "namespace"}

// New adds kubectl's connection flags.
func New(flags *pflag.FlagSet) *Cluster {
	result := &Cluster{Flags: genericclioptions.NewConfigFlags(true)}
	kubectlFlags := pflag.NewFlagSet("", pflag.ContinueOnError)
	result.Flags.AddFlags(kubectlFlags)
	kubectlFlags.VisitAll(func(flag *pflag.Flag) { flag.Hidden = !slices.Contains(shownFlags, flag.Name) })
	flags.AddFlagSet(kubectlFlags)
	return result
}

// Namespace is the user's, by flag or kubeconfig.
func (c *Cluster) Namespace() (string, error) {
	namespace, _, err := c.Flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return namespace, nil
}

// defaultServer is client-go's server without any configuration.
const defaultServer = "http://localhost:8080"

var errNoCluster = errors.New("no cluster is configured: set KUBECONFIG or --kubeconfig to the file that kubectl uses; a local cluster's is written by make cluster-up or kind export kubeconfig")

// isUnset reports whether neither a kubeconfig nor a flag names a cluster.
func (c *Cluster) isUnset() bool {
	named, err := c.Flags.ToRawKubeConfigLoader().RawConfig()
	return err == nil && len(named.Clusters) == 0 && *c.Flags.APIServer == ""
}

// hintingTransport adds a hint to errors of unreachable clusters.
type hintingTransport struct{ http.RoundTripper }

func (h hintingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := h.RoundTripper.RoundTrip(request)
	var dialed *net.OpError
	if errors.As(err, &dialed) && dialed.Op == "dial" {
		err = fmt.Errorf("%w; the cluster does not answer: check that it is running and is the right one (kubectl config current-context)", err)
	}
	return response, err
}

// Config is for requests to the cluster. It fails with a hint if no cluster is configured.
func (c *Cluster) Config() (*rest.Config, error) {
	config, err := c.Flags.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	if config.Host == defaultServer && c.isUnset() {
		return nil, errNoCluster
	}
	// As in kubectl. Raw results are read and written one by one: with
	// client-go's default of five a second, an experiment would take a minute.
	config.QPS, config.Burst = 50, 300
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return hintingTransport{next} })
	return config, nil
}

// Resolve returns a client and the key of the experiment NAME or
// NAMESPACE/NAME.
func (c *Cluster) Resolve(argument string) (client.Client, client.ObjectKey, error) {
	namespace, name, whole := strings.Cut(argument, "/")
	if !whole {
		own, err := c.Namespace()
		if err != nil {
			return nil, client.ObjectKey{}, err
		}
		namespace, name = own, argument
	}
	reader, err := c.Client()
	return reader, client.ObjectKey{Namespace: namespace, Name: name}, err
}

// Client returns a client for Kubernetes' and PerfLab's kinds.
func (c *Cluster) Client() (client.Client, error) {
	config, err := c.Config()
	if err != nil {
		return nil, err
	}
	result, err := client.New(config, client.Options{Scheme: NewScheme()})
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return result, nil
}

// NewScheme returns a scheme with Kubernetes' and PerfLab's kinds.
func NewScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	return scheme
}

var errNotInstalled = errors.New("PerfLab is not installed in this cluster")

// ErrNotFound means that the cluster does not have an object.
var ErrNotFound = errors.New("not found")

// Reader returns a client and the user's namespace.
func (c *Cluster) Reader() (client.Client, string, error) {
	namespace, err := c.Namespace()
	if err != nil {
		return nil, "", err
	}
	reader, err := c.Client()
	return reader, namespace, err
}

// isUnserved reports whether the cluster lacks PerfLab's kinds.
func isUnserved(err error) bool {
	return meta.IsNoMatchError(err) || discovery.IsGroupDiscoveryFailedError(err)
}

// Watcher returns a client that can watch.
func (c *Cluster) Watcher() (client.WithWatch, string, error) {
	namespace, err := c.Namespace()
	if err != nil {
		return nil, "", err
	}
	config, err := c.Config()
	if err != nil {
		return nil, "", err
	}
	watcher, err := client.NewWithWatch(config, client.Options{Scheme: NewScheme()})
	if err != nil {
		return nil, "", fmt.Errorf("connecting to the cluster: %w", err)
	}
	return watcher, namespace, nil
}

// Arguments make helm or kubectl use the same cluster.
func (c *Cluster) Arguments(program string) []string {
	contextFlag := "--" + map[string]string{"helm": "kube-context", "kubectl": "context"}[program]
	var arguments []string
	if file := ptr.Deref(c.Flags.KubeConfig, ""); file != "" {
		arguments = append(arguments, "--kubeconfig", file)
	}
	if name := ptr.Deref(c.Flags.Context, ""); name != "" {
		arguments = append(arguments, contextFlag, name)
	}
	return arguments
}
