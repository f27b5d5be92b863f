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

// cluster is the one that a command talks to, chosen as kubectl does: by
// --kubeconfig, --context, --namespace and KUBECONFIG.
type cluster struct {
	flags *genericclioptions.ConfigFlags
}

// shownFlags are those of kubectl's flags that --help lists. All work; listed,
// the others would hide a command's own.
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

// noServer is where client-go looks for a cluster that nobody named.
const defaultServer = "http://localhost:8080"

var errNoCluster = errors.New("no cluster is configured: set KUBECONFIG or --kubeconfig to the file that kubectl uses; a local cluster's is written by make cluster-up or kind export kubeconfig")

// isUnset: neither a kubeconfig nor a flag names a cluster.
func (c *cluster) isUnset() bool {
	named, err := c.flags.ToRawKubeConfigLoader().RawConfig()
	return err == nil && len(named.Clusters) == 0 && *c.flags.APIServer == ""
}

// helpful says what to look at where no cluster answers.
type hintingTransport struct{ http.RoundTripper }

func (h hintingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := h.RoundTripper.RoundTrip(request)
	var dialed *net.OpError
	if errors.As(err, &dialed) && dialed.Op == "dial" {
		err = fmt.Errorf("%w; there is no answer: is the cluster up, and is it the one you mean (kubectl config current-context)?", err)
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
	// As kubectl. Raw results are read and written one by one, and five a second,
	// client-go's default, would take a minute for an experiment.
	config.QPS, config.Burst = 50, 300
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return hintingTransport{next} })
	return config, nil
}

// named is a client with the experiment that NAME or NAMESPACE/NAME means.
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

// client reads and writes objects, PerfLab's own among them.
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

// newScheme knows Kubernetes' kinds and PerfLab's.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	return scheme
}
