// SPDX-License-Identifier: Apache-2.0

// Command manager runs the PerfLab operator; "manager view" serves the living pages
// of experiments.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/controllers/experiment"
	"perflab.dev/perflab/controllers/run"
	"perflab.dev/perflab/internal/admission"
	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/stores"
	"perflab.dev/perflab/internal/kafkaadmin"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/probe"
	"perflab.dev/perflab/internal/telemetry"
	"perflab.dev/perflab/internal/version"
)

// leaderElectionID names the Lease that keeps two operators from working at
// the same time.
const leaderElectionID = "manager.perflab.dev"

type options struct {
	k6Image              string
	starterImage         string
	collectorImage       string
	namespace            string
	metricsAddress       string
	metricsSecure        bool
	probeAddress         string
	leaderElect          bool
	webhook              bool
	webhookPort          int
	ownNamespace         string
	webhookConfiguration string
	authorRights         admission.AuthorRights
	lanes                lanes
	history              experiment.History
	archive              string
	showVersion          bool
	logging              zap.Options
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == viewCommand {
		if err := runView(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "manager view:", err)
			os.Exit(1)
		}
		return
	}
	o := parse()
	if o.showVersion {
		fmt.Println(version.Line("manager"))
		return
	}
	if err := serve(o); err != nil {
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(1)
	}
}

func parse() options {
	o := options{authorRights: admission.EnforceRights, lanes: lanesCluster}
	flag.StringVar(&o.k6Image, "k6-image", os.Getenv("K6_IMAGE"), "image of the k6 runners, with PerfLab's output and scripts (env K6_IMAGE)")
	flag.StringVar(&o.starterImage, "starter-image", os.Getenv("STARTER_IMAGE"), "image with sh and curl that releases the runners; default: the k6 image (env STARTER_IMAGE)")
	flag.StringVar(&o.collectorImage, "collector-image", os.Getenv("COLLECTOR_IMAGE"), "image of the collector, which samples the servers of each run (env COLLECTOR_IMAGE)")
	flag.StringVar(&o.namespace, "namespace", os.Getenv("WATCH_NAMESPACE"), "the only namespace to work in; default: all (env WATCH_NAMESPACE)")
	flag.StringVar(&o.metricsAddress, "metrics-bind-address", "0", "address of the Prometheus metrics, for example :8443; 0 turns them off")
	flag.BoolVar(&o.metricsSecure, "metrics-secure", true, "serve metrics over HTTPS, and only to whom the cluster lets get /metrics; without it, name a loopback address")
	flag.StringVar(&o.probeAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz")
	flag.BoolVar(&o.leaderElect, "leader-elect", false, "let only one of several operators work")
	flag.BoolVar(&o.webhook, "webhook", true, "judge experiments and systems when they are written; needs the objects of config/webhook, so turn it off outside a cluster")
	flag.IntVar(&o.webhookPort, "webhook-port", 9443, "port the webhook is served on")
	flag.StringVar(&o.webhookConfiguration, "webhook-configuration", "perflab", "name of the ValidatingWebhookConfiguration that leads to this operator")
	flag.Var(&o.authorRights, "author-rights", "what the webhook does with experiments and systems that reach for Secrets, workloads and the like that their author may not use: enforce refuses them, warn says so, ignore asks nothing")
	flag.DurationVar(&o.history.RawResults, "history-raw-results", 0, "how long raw results of complete experiments stay that don't say so in spec.history; 0: until the experiment is deleted")
	flag.DurationVar(&o.history.Runs, "history-runs", 0, "how long the runs of complete experiments stay that don't say so in spec.history; 0: until the experiment is deleted")
	flag.StringVar(&o.archive, "archive", os.Getenv("PERFLAB_ARCHIVE"), "URL of the object store that keeps records of runs and experiments for longer than the cluster does: s3://BUCKET/PREFIX?region=..., gs://, azblob:// or file:///DIRECTORY; credentials are those of the workload, or of the store's own variables; default: none (env PERFLAB_ARCHIVE)")
	flag.Var(&o.lanes, "lanes", "beside what experiments measure: cluster lets them take turns in the whole cluster, unless spec.lane says otherwise; namespace only keeps the runs of one namespace apart")
	flag.StringVar(&o.ownNamespace, "own-namespace", os.Getenv("POD_NAMESPACE"), "namespace the operator runs in, for its webhook's certificate (env POD_NAMESPACE)")
	flag.BoolVar(&o.showVersion, "version", false, "say which PerfLab this is, and end")
	o.logging.BindFlags(flag.CommandLine)
	flag.Parse()
	if o.starterImage == "" {
		o.starterImage = o.k6Image
	}
	return o
}

func serve(o options) error {
	if o.k6Image == "" {
		return errors.New("--k6-image (or K6_IMAGE) is missing: name the image of the k6 runners")
	}
	if o.collectorImage == "" {
		return errors.New("--collector-image (or COLLECTOR_IMAGE) is missing: name the image of the collector")
	}
	if o.history.RawResults < 0 || o.history.Runs < 0 {
		return errors.New("--history-raw-results and --history-runs are times that something stays: write one that is not negative, or 0 to keep it")
	}
	if o.webhook && o.ownNamespace == "" {
		return errors.New("--own-namespace (or POD_NAMESPACE) is missing: name the namespace the operator runs in, or turn the webhook off with --webhook=false")
	}
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&o.logging)))
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("finding the cluster: %w", err)
	}
	certificate := &admission.Certificate{Namespace: o.ownNamespace, Configuration: o.webhookConfiguration, Now: time.Now}
	manager, err := ctrl.NewManager(config, managerOptions(o, certificate))
	if err != nil {
		return fmt.Errorf("building the manager: %w", err)
	}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("building the log client: %w", err)
	}
	kept, err := openArchive(o.archive)
	if err != nil {
		return err
	}
	if err := setUp(manager, clientset, kept, o); err != nil {
		return err
	}
	if err := setUpWebhook(manager, certificate, o); err != nil {
		return fmt.Errorf("setting up the webhook: %w", err)
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func managerOptions(o options, certificate *admission.Certificate) ctrl.Options {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	cacheOptions := cache.Options{ByObject: component.Cached(o.ticketNamespace()), DefaultTransform: cache.TransformStripManagedFields()}
	if o.namespace != "" {
		cacheOptions.DefaultNamespaces = map[string]cache.Config{o.namespace: {}}
	}
	return ctrl.Options{
		Scheme: scheme,
		Cache:  cacheOptions,
		Client: client.Options{Cache: &client.CacheOptions{
			// Foreign objects are unstructured and read as often as our own.
			Unstructured: true,
			// Raw results are a megabyte or two for every run, and hardly read.
			DisableFor: []client.Object{&corev1.ConfigMap{}},
		}},
		Metrics:                       metricsOptions(o, certificate),
		HealthProbeBindAddress:        o.probeAddress,
		LeaderElection:                o.leaderElect,
		LeaderElectionID:              leaderElectionID,
		LeaderElectionReleaseOnCancel: true,
	}
}

// openArchive is the archive of a URL; nil where there is none. It asks the store nothing:
// one that is away when the operator starts is no reason not to measure.
func openArchive(url string) (*archive.Store, error) {
	if url == "" {
		return nil, nil
	}
	location, err := archive.ParseLocation(url)
	if err != nil {
		return nil, fmt.Errorf("--archive (or PERFLAB_ARCHIVE): %w", err)
	}
	store, err := stores.Open(context.Background(), location, archive.Options{})
	if err != nil {
		return nil, fmt.Errorf("--archive (or PERFLAB_ARCHIVE): %w", err)
	}
	return store, nil
}

func setUp(manager ctrl.Manager, clientset kubernetes.Interface, kept *archive.Store, o options) error {
	counted := telemetry.New(metrics.Registry)
	metrics.Registry.MustRegister(telemetry.Experiments{Reader: manager.GetClient()})
	cluster := kube.Cluster{Client: manager.GetClient()}
	http := probe.NewHTTP()
	tools := component.Tools{
		Cluster:        cluster,
		Home:           o.ownNamespace,
		Live:           manager.GetAPIReader(),
		Lanes:          o.ticketNamespace(),
		Settings:       load.Settings{RunnerImage: o.k6Image, StarterImage: o.starterImage},
		CollectorImage: o.collectorImage,
		Target:         http,
		Kafka:          kafkaadmin.Admin{},
		Databases:      probe.NewPostgres(),
		Logs:           kube.PodLogs{Clientset: clientset},
		Events:         manager.GetEventRecorder("perflab"),
		Archive:        kept,
		Surroundings:   surroundings(clientset.Discovery(), o),
	}
	runs := &run.Reconciler{
		Tools:     tools,
		Runners:   http,
		Telemetry: counted,
		Now:       time.Now,
		Watches:   &run.ForeignWatches{Cluster: cluster, Cache: manager.GetCache()},
	}
	experiments := &experiment.Reconciler{Tools: tools, Telemetry: counted, Now: time.Now, History: o.history}
	return errors.Join(
		runs.SetupWithManager(manager),
		experiments.SetupWithManager(manager),
		manager.AddHealthzCheck("healthz", healthz.Ping),
		manager.AddReadyzCheck("readyz", healthz.Ping),
	)
}

// metricsOptions serve under the webhook's certificate where there is one, so
// that Prometheus can tell the operator from somebody else before it shows its
// token.
func metricsOptions(o options, certificate *admission.Certificate) metricsserver.Options {
	served := metricsserver.Options{BindAddress: o.metricsAddress}
	if !o.metricsSecure {
		return served
	}
	served.SecureServing = true
	served.FilterProvider = filters.WithAuthenticationAndAuthorization
	if o.webhook {
		served.TLSOpts = []func(*tls.Config){certificate.Serve}
	}
	return served
}

// setUpWebhook lets the manager be ready only when the API server can ask it.
func setUpWebhook(manager ctrl.Manager, certificate *admission.Certificate, o options) error {
	if !o.webhook {
		return nil
	}
	certificate.Client, certificate.Live = manager.GetClient(), manager.GetAPIReader()
	server := webhook.NewServer(webhook.Options{Port: o.webhookPort, TLSOpts: []func(*tls.Config){certificate.Serve}})
	rights := admission.Rights{Author: o.authorRights, Reviewer: manager.GetClient()}
	admission.Register(server, manager.GetScheme(), manager.GetAPIReader(), rights)
	return errors.Join(
		manager.Add(certificate),
		manager.Add(server),
		manager.AddReadyzCheck("certificate", certificate.Check),
		manager.AddReadyzCheck("webhook", server.StartedChecker()),
	)
}
