// SPDX-License-Identifier: Apache-2.0

// Command manager runs the PerfLab operator; "manager view" serves live pages of
// experiments, and "manager check" checks an installation.
package main

import (
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // Schedules name time zones, and the image holds none.

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/announcer"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/controllers/experiment"
	"perflab.dev/perflab/controllers/retention"
	"perflab.dev/perflab/controllers/run"
	"perflab.dev/perflab/controllers/schedule"
	"perflab.dev/perflab/internal/admission"
	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/kube"
	kubecache "perflab.dev/perflab/internal/kube/cache"
	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/network/egress"
	"perflab.dev/perflab/internal/network/egress/apiserver"
	"perflab.dev/perflab/internal/network/kafkaadmin"
	"perflab.dev/perflab/internal/network/probe"
	"perflab.dev/perflab/internal/publish/sinks"
	"perflab.dev/perflab/internal/telemetry"
	"perflab.dev/perflab/internal/version"
)

// leaderElectionID is the name of the leader election Lease.
const leaderElectionID = "manager.perflab.dev"

type options struct {
	k6Image              string
	starterImage         string
	collectorImage       string
	collectorRole        string
	k6PullPolicy         pullPolicy
	collectorPullPolicy  pullPolicy
	pullSecrets          pullSecrets
	namespace            string
	metricsAddress       string
	metricsSecure        bool
	probeAddress         string
	leaderElect          bool
	webhook              bool
	webhookPort          int
	ownNamespace         string
	namePrefix           string
	webhookConfiguration string
	authorRights         admission.AuthorRights
	actAsAuthor          bool
	defaultAccount       string
	accountRole          string
	lanes                lanes
	longestTurn          time.Duration
	retention            retention.Policy
	archive              string
	cloudEvents          listed
	grafana              listed
	sinkCredentials      string
	archives             namespaceArchives
	archiveCredentials   string
	denyTargets          listed
	allowTargets         listed
	showVersion          bool
	logging              zap.Options
}

// listed is a repeatable flag.
type listed []string

// Set adds a value.
func (l *listed) Set(given string) error {
	*l = append(*l, given)
	return nil
}

// String joins the values.
func (l *listed) String() string { return strings.Join(*l, " ") }

// gcPercent is the default of GOGC. The operator is idle most of the time, and its memory
// is a node's.
const gcPercent = 50

// memoryPercent is the share of GOMEMLIMIT for the Go runtime. GOMEMLIMIT is the
// container's limit, which also counts memory outside the runtime: mapped pages of the
// executable and kernel memory, 35 MiB of the default 256.
const memoryPercent = 80

// limitMemory keeps the runtime below GOMEMLIMIT, if it is set.
func limitMemory() {
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		debug.SetMemoryLimit(limit / 100 * memoryPercent)
	}
}

// commands are run instead of the operator if they are the first argument.
var commands = map[string]func(arguments []string) error{viewCommand: runView, checkCommand: runCheck}

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	limitMemory()
	if len(os.Args) > 1 && commands[os.Args[1]] != nil {
		if err := commands[os.Args[1]](os.Args[2:]); err != nil {
			fmt.Fprintf(os.Stderr, "manager %s: %v\n", os.Args[1], err)
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
	flag.Var(&o.k6PullPolicy, "k6-image-pull-policy", "pull policy of the k6 image; default: Kubernetes' default")
	flag.Var(&o.collectorPullPolicy, "collector-image-pull-policy", "pull policy of the collector's image; default: Kubernetes' default")
	flag.Var(&o.pullSecrets, "image-pull-secret", "a Secret in the namespaces of experiments with which the pods of runs pull images; repeatable")
	flag.StringVar(&o.collectorRole, "collector-role", "perflab-collector", "ClusterRole of the collectors, which the operator must be allowed to bind")
	flag.StringVar(&o.namespace, "namespace", os.Getenv("WATCH_NAMESPACE"), "the only namespace to work in; default: all (env WATCH_NAMESPACE)")
	flag.StringVar(&o.metricsAddress, "metrics-bind-address", "0", "address of the Prometheus metrics, for example :8443; 0 turns them off")
	flag.BoolVar(&o.metricsSecure, "metrics-secure", true, "serve metrics over HTTPS, to clients that are authorized to get /metrics; if false, use a loopback address")
	flag.StringVar(&o.probeAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz")
	flag.BoolVar(&o.leaderElect, "leader-elect", false, "ensure that only one of several operators is active")
	flag.BoolVar(&o.webhook, "webhook", true, "validate experiments, systems and schedules on admission; needs the objects of config/webhook, so disable it outside a cluster")
	flag.IntVar(&o.webhookPort, "webhook-port", 9443, "port the webhook is served on")
	flag.StringVar(&o.webhookConfiguration, "webhook-configuration", "perflab", "name of the ValidatingWebhookConfiguration of this operator")
	flag.Var(&o.authorRights, "author-rights", "how the webhook handles experiments, systems and schedules that use Secrets, workloads or other objects without their author's right to them: enforce rejects them, warn returns warnings, ignore does not check")
	flag.BoolVar(&o.actAsAuthor, "act-as-author", false, "create the objects of experiments with the rights of a ServiceAccount in their namespace (spec.serviceAccountName), which the operator must be allowed to impersonate, instead of the operator's own rights")
	flag.StringVar(&o.defaultAccount, "default-service-account", "perflab-author", "with --act-as-author, the ServiceAccount of experiments that do not set one")
	flag.StringVar(&o.accountRole, "account-role", "perflab-experiments", "with --act-as-author, the ClusterRole with the rights that these ServiceAccounts need; condition messages suggest binding it")
	o.addRetentionFlags()
	flag.StringVar(&o.archive, "archive", os.Getenv("PERFLAB_ARCHIVE"), "URL of the object store that archives records of runs and experiments: s3://BUCKET/PREFIX?region=..., gs://, azblob:// or file:///DIRECTORY; credentials are those of the workload, or of the store's own variables; default: none (env PERFLAB_ARCHIVE)")
	flag.Var(&o.cloudEvents, "cloudevents", "a receiver of CloudEvents over HTTP that is notified when an experiment is complete or stalled, and where a series of releases changed, as NAME=URL; repeatable")
	flag.Var(&o.grafana, "grafana", "a Grafana that gets an annotation where a series of releases changed, as NAME=URL; repeatable")
	flag.StringVar(&o.sinkCredentials, "sink-credentials", "", "directory with the credentials of these receivers: for each a directory with its name and the files token (a bearer token), header (a line NAME: VALUE) or ca.crt (authorities to trust); default: no credentials")
	flag.Var(&o.archives, "namespace-archive", "archive of one namespace instead of the one of --archive: NAMESPACE=URL, or NAMESPACE=none to archive nothing of it; repeatable")
	flag.StringVar(&o.archiveCredentials, "namespace-archive-credentials", "/etc/perflab/archives", "directory with a folder for each namespace whose archive needs its own credentials, with the keys of a Secret; default: the workload's credentials")
	flag.Var(&o.denyTargets, egress.FlagDeny, "a CIDR, an address, or an address with a port that the operator and its collectors don't connect to; repeatable. Always denied: loopback, link-local and multicast addresses, metadata services of clouds, and the API server")
	flag.Var(&o.allowTargets, egress.FlagAllow, "an exception to a denied one, if no narrower one is denied; repeatable")
	flag.Var(&o.lanes, "lanes", "scope in which experiments take turns: cluster is the whole cluster, unless spec.lane sets another; namespace only separates the runs of one namespace")
	flag.DurationVar(&o.longestTurn, "longest-turn", 0, "longest time of a run, regardless of its deadlines, and of an experiment while others wait, for example 168h; 0: no limit")
	flag.StringVar(&o.ownNamespace, "own-namespace", os.Getenv("POD_NAMESPACE"), "namespace of the operator, for its webhook's certificate (env POD_NAMESPACE)")
	flag.StringVar(&o.namePrefix, "name-prefix", admission.DefaultPrefix, "prefix of the names of the operator's Services, and of the Secret with their certificate")
	flag.BoolVar(&o.showVersion, "version", false, "print the version and exit")
	o.logging.BindFlags(flag.CommandLine)
	flag.Parse()
	if o.starterImage == "" {
		o.starterImage = o.k6Image
	}
	return o
}

// addRetentionFlags adds the flags of what is kept, also under their earlier names.
func (o *options) addRetentionFlags() {
	flag.DurationVar(&o.retention.RawResults, "retention-raw-results", 0, "how long raw results of complete experiments are kept, unless spec.retention sets it; 0: until the experiment is deleted")
	flag.Func("retention-raw-results-of", "number of newest runs of a complete experiment whose raw results are kept, unless spec.retention sets it; default: all", numberOfRuns(&o.retention.RawResultsOf))
	flag.DurationVar(&o.retention.Runs, "retention-runs", 0, "how long the runs of complete experiments are kept, unless spec.retention sets it; 0: until the experiment is deleted")
	flag.Func("retention-runs-of", "how many runs are kept in a namespace: those of the experiments that were completed last, all or none of each, and always those of the last one; experiments that set it in spec.retention are not counted; default: all", numberOfRuns(&o.retention.RunsOf))
	flag.DurationVar(&o.retention.RawResults, "history-raw-results", 0, "deprecated: use --retention-raw-results")
	flag.Func("history-raw-results-of", "deprecated: use --retention-raw-results-of", numberOfRuns(&o.retention.RawResultsOf))
	flag.DurationVar(&o.retention.Runs, "history-runs", 0, "deprecated: use --retention-runs")
	flag.Func("history-runs-of", "deprecated: use --retention-runs-of", numberOfRuns(&o.retention.RunsOf))
}

// numberOfRuns parses a flag with a number of runs.
func numberOfRuns(into **int32) func(text string) error {
	return func(text string) error {
		number, err := strconv.ParseInt(text, 10, 32)
		if err != nil || number < 0 {
			return errors.New("write a number of runs, such as 12; 0 keeps none")
		}
		*into = ptr.To(int32(number))
		return nil
	}
}

// check returns an error for the first option that is missing or invalid.
func (o *options) check() error {
	if o.k6Image == "" {
		return errors.New("--k6-image (or K6_IMAGE) is missing: name the image of the k6 runners")
	}
	if o.collectorImage == "" {
		return errors.New("--collector-image (or COLLECTOR_IMAGE) is missing: name the image of the collector")
	}
	if o.retention.RawResults < 0 || o.retention.Runs < 0 {
		return errors.New("--retention-raw-results and --retention-runs must not be negative: write how long to keep them, or 0 to keep all")
	}
	if o.longestTurn < 0 {
		return errors.New("--longest-turn must not be negative: write a duration such as 168h, or 0 for no limit")
	}
	if o.actAsAuthor && len(validation.IsDNS1123Subdomain(o.defaultAccount)) > 0 {
		return errors.New("--default-service-account is not the name of a ServiceAccount: write one, such as perflab-author")
	}
	if o.webhook && o.ownNamespace == "" {
		return errors.New("--own-namespace (or POD_NAMESPACE) is missing: name the operator's namespace, or disable the webhook with --webhook=false")
	}
	return nil
}

func serve(o options) error {
	if err := o.check(); err != nil {
		return err
	}
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&o.logging)))
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("finding the cluster: %w", err)
	}
	// The API server is near, and decompression takes longer than uncompressed reads.
	config.DisableCompression = true
	certificate := &admission.Certificate{Namespace: o.ownNamespace, Prefix: o.namePrefix, Configuration: o.webhookConfiguration, Now: time.Now}
	managed, err := managerOptions(o, config, certificate)
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, managed)
	if err != nil {
		return fmt.Errorf("building the manager: %w", err)
	}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("building the log client: %w", err)
	}
	beyond, err := openOutside(config, o)
	if err != nil {
		return err
	}
	if err := setUp(manager, clientset, beyond, o); err != nil {
		return err
	}
	if err := setUpWebhook(manager, certificate, o); err != nil {
		return fmt.Errorf("setting up the webhook: %w", err)
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func managerOptions(o options, config *rest.Config, certificate *admission.Certificate) (ctrl.Options, error) {
	cached, err := kubecache.NewOptions(config, o.namespace, o.ticketNamespace())
	if err != nil {
		return ctrl.Options{}, err
	}
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	return ctrl.Options{
		Scheme: scheme,
		Cache:  cached,
		Client: client.Options{Cache: &client.CacheOptions{
			// Third-party objects are unstructured and read as often as our
			// own.
			Unstructured: true,
			DisableFor:   []client.Object{kubecache.NewObject(uncached)},
		}},
		Metrics:                       metricsOptions(o, certificate),
		HealthProbeBindAddress:        o.probeAddress,
		LeaderElection:                o.leaderElect,
		LeaderElectionID:              leaderElectionID,
		LeaderElectionReleaseOnCancel: true,
	}, nil
}

// uncached is the kind that is not cached: raw results are one to two megabytes for
// each run, and rarely read.
var uncached = corev1.SchemeGroupVersion.WithKind("ConfigMap")

// The minimum time between two status writes that only report progress, such as pods that
// start.
const (
	runStatusInterval        = 3 * time.Second
	experimentStatusInterval = 5 * time.Second
)

// outside has the operator's connections to servers other than the API server.
type outside struct {
	egress   egress.Rules
	http     *probe.HTTP
	archives archive.Archives
	sinks    []sinks.Sink
}

// targets returns the lists of --deny-targets and --allow-targets.
func (o *options) targets() egress.Lists {
	return egress.Lists{Deny: o.denyTargets, Allow: o.allowTargets}
}

func openOutside(config *rest.Config, o options) (outside, error) {
	servers, err := apiserver.Addresses(config)
	if err != nil {
		return outside{}, err
	}
	rules, err := egress.New(o.targets(), servers...)
	if err != nil {
		return outside{}, err
	}
	stores, err := openArchives(o, rules)
	if err != nil {
		return outside{}, err
	}
	notifiers, err := sinks.Open(o.cloudEvents, o.grafana, o.sinkCredentials, rules)
	if err != nil {
		return outside{}, fmt.Errorf("--cloudevents and --grafana: %w", err)
	}
	return outside{rules, probe.NewHTTP(rules), stores, notifiers}, nil
}

func setUp(manager ctrl.Manager, clientset kubernetes.Interface, beyond outside, o options) error {
	counted := telemetry.New(metrics.Registry)
	metrics.Registry.MustRegister(telemetry.Experiments{Reader: manager.GetClient()})
	pods, err := kubecache.NewPodCaches(manager, kubecache.Namespaces(o.namespace))
	if err != nil {
		return err
	}
	tools, err := o.tools(manager, clientset, pods, beyond)
	if err != nil {
		return err
	}
	runs := &run.Reconciler{
		Tools:          tools,
		Runners:        beyond.http,
		Telemetry:      counted,
		Now:            time.Now,
		Watches:        &run.ThirdPartyWatches{Cluster: tools.Cluster, Cache: manager.GetCache(), Pods: pods},
		StatusThrottle: component.StatusThrottle{Interval: runStatusInterval},
	}
	experiments := experiment.New(tools, time.Now, counted, o.retention)
	experiments.StatusThrottle = component.StatusThrottle{Interval: experimentStatusInterval}
	announcements := &announcer.Reconciler{Tools: tools, Now: time.Now}
	schedules := &schedule.Reconciler{Tools: tools, Now: time.Now}
	return errors.Join(
		runs.SetupWithManager(manager),
		experiments.SetupWithManager(manager),
		announcements.SetupWithManager(manager),
		schedules.SetupWithManager(manager),
		manager.AddHealthzCheck("healthz", healthz.Ping),
		manager.AddReadyzCheck("readyz", healthz.Ping),
	)
}

// tools returns the dependencies that the reconcilers share.
func (o *options) tools(manager ctrl.Manager, clientset kubernetes.Interface, pods kubecache.PodCaches, beyond outside) (component.Tools, error) {
	freshness := kubecache.NewFreshness()
	live := freshness.Reader(manager.GetAPIReader(), manager.GetScheme())
	accounts, err := o.accounts(manager)
	if err != nil {
		return component.Tools{}, err
	}
	return component.Tools{
		Cluster:           kube.Cluster{Client: freshness.Client(accounts.Client(manager.GetClient()), live, uncached), PodReader: pods.Reader(live)},
		Accounts:          accounts,
		ReadLimiter:       kube.NewReadLimiter(),
		OperatorNamespace: o.ownNamespace,
		Live:              live,
		LeaseNamespace:    o.ticketNamespace(),
		LongestTurn:       o.longestTurn,
		Settings:          load.Settings{RunnerImage: o.k6Image, StarterImage: o.starterImage, Pulls: o.pulls()},
		CollectorImage:    o.collectorImage,
		CollectorRole:     o.collectorRole,
		Target:            beyond.http,
		Kafka:             kafkaadmin.Admin{Egress: beyond.egress},
		Databases:         probe.NewPostgres(beyond.egress),
		Egress:            o.targets(),
		Logs:              kube.PodLogs{Clientset: clientset},
		Events:            component.BoundedEvents{EventRecorder: manager.GetEventRecorder("perflab")},
		Archives:          beyond.archives,
		Sinks:             beyond.sinks,
		ClusterInfo:       clusterInfo(clientset.Discovery(), *o),
	}, nil
}

// accounts returns the ServiceAccounts to impersonate; nil: none.
func (o *options) accounts(manager ctrl.Manager) (*kube.Accounts, error) {
	if !o.actAsAuthor {
		return nil, nil
	}
	shared := client.Options{Scheme: manager.GetScheme(), Mapper: manager.GetRESTMapper()}
	return kube.NewAccounts(manager.GetConfig(), shared, o.defaultAccount, o.accountRole)
}

// metricsOptions uses the webhook's certificate, if there is one, so that
// Prometheus can verify the operator before it sends its token.
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

// setUpWebhook makes the manager ready only when the API server can reach the
// webhook.
func setUpWebhook(manager ctrl.Manager, certificate *admission.Certificate, o options) error {
	if !o.webhook {
		return nil
	}
	certificate.Client, certificate.Live = manager.GetClient(), manager.GetAPIReader()
	server := webhook.NewServer(webhook.Options{Port: o.webhookPort, TLSOpts: []func(*tls.Config){certificate.Serve}})
	rights := admission.Rights{Author: o.authorRights, Reviewer: manager.GetClient(), Limits: admission.NewLimits(time.Now)}
	if o.actAsAuthor {
		rights.Account = o.defaultAccount
	}
	admission.Register(server, manager.GetScheme(), manager.GetAPIReader(), rights)
	return errors.Join(
		manager.Add(certificate),
		manager.Add(server),
		manager.AddReadyzCheck("certificate", certificate.Check),
		manager.AddReadyzCheck("webhook", server.StartedChecker()),
	)
}
