// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
)

// cluster is the cluster of a command, selected as in kubectl: by --kubeconfig, --context,
// --namespace and KUBECONFIG.
type cluster struct {
	flags *genericclioptions.ConfigFlags
}

// shownFlags are kubectl's flags that --help lists. The others work too, but
// would hide the command's own flags.
var shownFlags = []string{"context", "kubeconfig", "namespace"}

func newCluster(flags *pflag.FlagSet) *cluster {
	result := &cluster{flags: genericclioptions.NewConfigFlags(true)}
	kubectlFlags := pflag.NewFlagSet("", pflag.ContinueOnError)
	result.flags.AddFlags(kubectlFlags)
	kubectlFlags.VisitAll(func(flag *pflag.Flag) { flag.Hidden = !slices.Contains(shownFlags, flag.Name) })
	flags.AddFlagSet(kubectlFlags)
	return result
}

func (c *cluster) namespace() (string, error) {
	namespace, _, err := c.flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return namespace, nil
}

// defaultServer is client-go's server without any configuration.
const defaultServer = "http://localhost:8080"

var errNoCluster = errors.New("no cluster is configured: set KUBECONFIG or --kubeconfig to the file that kubectl uses; a local cluster's is written by make cluster-up or kind export kubeconfig")

// isUnset reports whether neither a kubeconfig nor a flag names a cluster.
func (c *cluster) isUnset() bool {
	named, err := c.flags.ToRawKubeConfigLoader().RawConfig()
	return err == nil && len(named.Clusters) == 0 && *c.flags.APIServer == ""
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

func (c *cluster) config() (*rest.Config, error) {
	config, err := c.flags.ToRESTConfig()
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

// resolve returns a client and the key of the experiment NAME or
// NAMESPACE/NAME.
func (c *cluster) resolve(argument string) (client.Client, client.ObjectKey, error) {
	namespace, name, whole := strings.Cut(argument, "/")
	if !whole {
		own, err := c.namespace()
		if err != nil {
			return nil, client.ObjectKey{}, err
		}
		namespace, name = own, argument
	}
	reader, err := c.client()
	return reader, client.ObjectKey{Namespace: namespace, Name: name}, err
}

// client returns a client for Kubernetes' and PerfLab's kinds.
func (c *cluster) client() (client.Client, error) {
	config, err := c.config()
	if err != nil {
		return nil, err
	}
	result, err := client.New(config, client.Options{Scheme: newScheme()})
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return result, nil
}

// newScheme returns a scheme with Kubernetes' and PerfLab's kinds.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	return scheme
}
