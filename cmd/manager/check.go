// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
)

// checkCommand as the first argument checks an installation: helm test runs it.
const checkCommand = "check"

const checkInterval = time.Second

var errAccepted = errors.New("the API server accepted an invalid PerfSystem: it does not call the operator's webhook")

type checkOptions struct {
	namespace string
	webhook   bool
	timeout   time.Duration
}

func runCheck(arguments []string) error {
	o := checkOptions{}
	flags := flag.NewFlagSet("manager check", flag.ContinueOnError)
	flags.StringVar(&o.namespace, "namespace", os.Getenv("POD_NAMESPACE"), "a namespace in which the operator works (env POD_NAMESPACE)")
	flags.BoolVar(&o.webhook, "webhook", true, "check that the webhook validates")
	flags.DurationVar(&o.timeout, "timeout", 2*time.Minute, "how long to wait for the operator")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("finding the cluster: %w", err)
	}
	scheme := runtime.NewScheme()
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	cluster, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("connecting to the cluster: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return awaitInstallation(ctx, cluster, o)
}

// awaitInstallation checks until the check passes, and returns the last error after the timeout.
func awaitInstallation(ctx context.Context, cluster client.Client, o checkOptions) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, checkInterval, o.timeout, true, func(context.Context) (bool, error) {
		// Without the timeout, which would replace the error of the last request.
		last = checkInstallation(ctx, cluster, o)
		return last == nil, nil
	})
	return errors.Join(last, err)
}

// checkInstallation checks, without writing anything, that the API server has PerfLab's kinds and
// calls the operator's webhook.
func checkInstallation(ctx context.Context, cluster client.Client, o checkOptions) error {
	valid := checkedSystem(o.namespace)
	if err := cluster.Create(ctx, valid, client.DryRunAll); err != nil {
		return fmt.Errorf("creating a PerfSystem (dry run): %w", err)
	}
	if !o.webhook {
		return nil
	}
	invalid := checkedSystem(o.namespace)
	invalid.Spec.Kafka.Brokers.Replicas, invalid.Spec.Kafka.Config = 1, map[string]string{"min.insync.replicas": "2"}
	switch err := cluster.Create(ctx, invalid, client.DryRunAll); {
	case err == nil:
		return errAccepted
	case apierrors.IsInvalid(err) || apierrors.IsForbidden(err):
		return nil
	default:
		return fmt.Errorf("creating an invalid PerfSystem (dry run): %w", err)
	}
}

func checkedSystem(namespace string) *v1alpha1.PerfSystem {
	system := &v1alpha1.PerfSystem{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "perflab-check"}}
	system.Spec.Target.URL = "http://example.org"
	system.Spec.Kafka = &v1alpha1.Kafka{Brokers: v1alpha1.KafkaNodes{Replicas: 3}}
	return system
}
