// SPDX-License-Identifier: Apache-2.0

// Command emulators stands in for Strimzi and k6-operator on test clusters
// where neither can be installed. It is a fake: never run it beside the real
// operators, and never outside tests.
package main

import (
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
	kafkav1 "perflab.dev/perflab/test/emulators/strimzi/api/v1"
)

// options are the command line.
type options struct {
	kafkaImage       string
	healthAddress    string
	pollInterval     time.Duration
	operationTimeout time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.kafkaImage, "kafka-image", "localhost/perflab/kafka:dev", "image of a Kafka node")
	flag.StringVar(&o.healthAddress, "health-address", ":8080", "address of /healthz and /readyz")
	flag.DurationVar(&o.pollInterval, "poll-interval", 5*time.Second, "time between two looks at the runners of a TestRun (the real operator: 15s)")
	flag.DurationVar(&o.operationTimeout, "operation-timeout", 5*time.Minute, "time after which a Kafka that does not become ready is reported as failed")
	flag.Parse()
	ctrl.SetLogger(textlogger.NewLogger(textlogger.NewConfig()))
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "emulators:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("finding the cluster: %w", err)
	}
	config.QPS = -1 // Hundreds of topics at once are a normal test; the API server has its own fairness.
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                 scheme(),
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
	brokers := strimzi.Brokers{}
	if err := errors.Join(
		(&strimzi.KafkaReconciler{
			Client: mgr.GetClient(), Brokers: brokers, Image: o.kafkaImage,
			OperationTimeout: o.operationTimeout, Now: time.Now,
		}).SetupWithManager(mgr),
		(&strimzi.TopicReconciler{
			Client: mgr.GetClient(), Brokers: brokers, Now: time.Now,
		}).SetupWithManager(mgr),
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

func scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, kafkav1.AddToScheme, k6v1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			panic(err) // A kind registered twice: a mistake in this program.
		}
	}
	return scheme
}
