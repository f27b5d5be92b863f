// SPDX-License-Identifier: Apache-2.0

// Command emulators replaces Strimzi and k6-operator on test clusters where neither can be
// installed. It is a fake: never run it together with the real operators, and never outside
// tests.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2/textlogger"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"perflab.dev/perflab/test/emulators/k6operator"
	k6v1alpha1 "perflab.dev/perflab/test/emulators/k6operator/api/v1alpha1"
	"perflab.dev/perflab/test/emulators/strimzi"
	"perflab.dev/perflab/test/emulators/strimzi/api"
)

// options are the command-line options.
type options struct {
	release          string
	kafkaImage       string
	healthAddress    string
	pollInterval     time.Duration
	operationTimeout time.Duration
	readyDelay       time.Duration
	linger           time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.release, "strimzi", "1.2.0", "release of Strimzi to emulate: 1.2.0 or 0.45.2")
	flag.StringVar(&o.kafkaImage, "kafka-image", "", "image of a Kafka node, if not that of the release")
	flag.StringVar(&o.healthAddress, "health-address", ":8080", "address of /healthz and /readyz")
	flag.DurationVar(&o.pollInterval, "poll-interval", 5*time.Second, "polling interval for the runners of a TestRun (the real operator: 15s)")
	flag.DurationVar(&o.operationTimeout, "operation-timeout", 5*time.Minute, "time after which a Kafka that does not become ready is reported as failed")
	flag.DurationVar(&o.readyDelay, "ready-delay", 2*time.Second, "time from the last ready Pod of a Kafka to its Ready (the real operator: 10 to 30s)")
	flag.DurationVar(&o.linger, "linger", 2*time.Second, "how long a deleted Pod of a Kafka runs before it terminates (observed with Strimzi: up to 19s)")
	flag.Parse()
	ctrl.SetLogger(textlogger.NewLogger(textlogger.NewConfig()))
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "emulators:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	generation, err := strimzi.ParseGeneration(o.release)
	if err != nil {
		return err
	}
	generation.Image = cmp.Or(o.kafkaImage, generation.Image)
	generation.Linger = o.linger
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("finding the cluster: %w", err)
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                 scheme(generation),
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: o.healthAddress,
	})
	if err != nil {
		return fmt.Errorf("preparing the manager: %w", err)
	}
	pods, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("preparing the client for logs: %w", err)
	}
	if err := errors.Join(
		(&strimzi.KafkaReconciler{
			Client: mgr.GetClient(), Brokers: strimzi.Brokers{}, Generation: generation,
			OperationTimeout: o.operationTimeout, ReadyDelay: o.readyDelay, Now: time.Now,
		}).SetupWithManager(mgr),
		(&strimzi.PodSetReconciler{Client: mgr.GetClient()}).SetupWithManager(mgr),
		(&k6operator.TestRunReconciler{
			Client: mgr.GetClient(), Cluster: k6operator.InCluster{Pods: pods}, PollInterval: o.pollInterval,
		}).SetupWithManager(mgr),
		mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.AddReadyzCheck("ping", healthz.Ping),
	); err != nil {
		return fmt.Errorf("setting the controllers up: %w", err)
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}

func scheme(generation strimzi.Generation) *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, api.AddToScheme(generation.APIVersion), k6v1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			panic(err) // A kind is registered twice, which is an error in this program.
		}
	}
	return scheme
}
