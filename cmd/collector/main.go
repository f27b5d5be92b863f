// SPDX-License-Identifier: Apache-2.0

// Command collector samples the servers of a run under load and prints the
// samples. The operator starts it for each run, passes the servers in the
// environment and, through an annotation on the pod, ends it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	// The image has no CA certificates.
	_ "golang.org/x/crypto/x509roots/fallback"
	"k8s.io/client-go/rest"

	"perflab.dev/perflab/internal/measure/collector"
	"perflab.dev/perflab/internal/measure/collector/sampler"
	"perflab.dev/perflab/internal/version"
)

func main() {
	showVersion := flag.Bool("version", false, "print the version and exit")
	flag.Parse()
	if *showVersion {
		fmt.Println(version.Line("collector"))
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "collector:", err)
		os.Exit(1)
	}
	if ctx.Err() != nil {
		// A replacement pod continues.
		fmt.Fprintln(os.Stderr, "collector: terminated before the end of the run")
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var config collector.Config
	if err := json.Unmarshal([]byte(os.Getenv(collector.EnvConfig)), &config); err != nil {
		return fmt.Errorf("reading %s: %w", collector.EnvConfig, err)
	}
	cluster, err := rest.InClusterConfig()
	if err != nil {
		return fmt.Errorf("finding the cluster: %w", err)
	}
	logins := sampler.Logins{
		KafkaUsername: os.Getenv(collector.EnvKafkaUsername), KafkaPassword: os.Getenv(collector.EnvKafkaPassword),
		KafkaCA:         os.Getenv(collector.EnvKafkaCA),
		PrometheusToken: os.Getenv(collector.EnvPrometheusToken),
	}
	place := sampler.Location{Pod: os.Getenv(collector.EnvPod), Node: os.Getenv(collector.EnvNode)}
	loop, err := sampler.New(cluster, config, logins, place, os.Stdout)
	if err != nil {
		return err
	}
	return loop.Work(ctx)
}
