// SPDX-License-Identifier: Apache-2.0

// Package doctor has the command that checks the prerequisites of a cluster.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fatih/color"
	"github.com/spf13/cobra"

	"perflab.dev/perflab/cmd/perflab/cluster"
	"perflab.dev/perflab/cmd/perflab/console"

	appsv1 "k8s.io/api/apps/v1"

	authorizationv1 "k8s.io/api/authorization/v1"

	storagev1 "k8s.io/api/storage/v1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/tested"
)

// errMissing means that a prerequisite of PerfLab is missing.
var errMissing = errors.New("prerequisites are missing")

// Finding is the result of a check.
type Finding struct {
	// Subject of the check.
	Subject string `json:"subject"`
	// State of the subject. A warning concerns only some experiments.
	State state `json:"state"`
	// Message describes the subject and, if there is a problem, its fix.
	Message string `json:"message"`
}

func (f Finding) line(seen console.Style) string {
	return fmt.Sprintf("%s  %s: %s", seen.Paint(f.State.color(), f.State.label()), f.Subject, f.Message)
}

type state string

const (
	stateOK      state = "OK"
	stateWarning state = "Warning"
	stateMissing state = "Missing"
)

func (s state) label() string {
	return map[state]string{stateOK: "ok     ", stateWarning: "warning", stateMissing: "MISSING"}[s]
}

func (s state) color() *color.Color {
	return map[state]*color.Color{stateOK: console.ColorGood, stateWarning: console.ColorWarning, stateMissing: console.ColorBad}[s]
}

// installPerfLab is the fix for a missing PerfLab.
const installPerfLab = "make deploy on the local cluster, or helm install perflab charts/perflab (docs/install.md)"

// dependency is a third-party operator or API that PerfLab uses.
type dependency struct {
	// component is its name in the matrix of tested versions.
	component string
	subject   string
	kind      schema.GroupKind
	severity  state
	// need is what requires it; empty: every experiment.
	need string
}

var dependencies = []dependency{
	{component: "k6-operator", subject: "k6-operator", kind: contract.TestRunKind.GroupKind(), severity: stateMissing},
	{component: "strimzi", subject: "Strimzi", kind: contract.KafkaGroupKind, severity: stateWarning, need: "needed by kafka.provider: Strimzi"},
	{component: "cloudnative-pg", subject: "CloudNativePG", kind: contract.PostgresClusterKind.GroupKind(), severity: stateWarning, need: "needed by postgres.provider: CloudNativePG"},
	{
		component: "metrics-server", subject: "metrics API", kind: schema.GroupKind{Group: "metrics.k8s.io", Kind: "PodMetrics"}, severity: stateWarning,
		need: "CPU and memory are not measured without it or measurement.prometheus",
	},
}

func (d dependency) tested() tested.Component { return *tested.Versions().Component(d.component) }

// remedy is the command that installs it, with what requires it.
func (d dependency) remedy() string {
	command := strings.Join(d.tested().Command(), " ")
	if d.need == "" {
		return command
	}
	return d.need + "; " + command
}

const doctorHelp = `Check that the cluster has what experiments need: PerfLab's kinds and operator, and
the operators of Kafka, PostgreSQL and k6. Check the images of the loads, the metrics
API, the default storage class, your own rights in the namespace and the ServiceAccount
that the operator acts as there, if it does. Each problem comes with its fix. -o json and -o yaml write fields for scripts (docs/command-line.md).

--fix only prints the commands that install missing operators and metrics-server, in tested
versions (docs/install.md). With --run, it also runs them. Both need helm and kubectl.

Exit codes: 0 nothing is missing (warnings concern what only some experiments need), 1
something is missing or could not be checked.`

// New returns the command doctor.
func New() *cobra.Command {
	var from *cluster.Cluster
	var format *console.Output
	var removesFinalizers bool
	var fix fixOptions
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Check the cluster for missing prerequisites, with fixes",
		Long:  doctorHelp,
		Example: `  kubectl perflab doctor --namespace lab
  kubectl perflab doctor --fix=k6-operator,metrics-server --run
  kubectl perflab doctor -o json | jq -r '.findings[] | select(.state != "OK") | .message'`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := format.Check(); err != nil {
				return err
			}
			if err := fix.check(format); err != nil {
				return err
			}
			if fix.isSet() {
				return fix.apply(command.Context(), from, command.OutOrStdout(), command.ErrOrStderr())
			}
			if removesFinalizers {
				writer, _, err := from.Reader()
				if err != nil {
					return err
				}
				return removeStaleFinalizers(command.Context(), writer, command.OutOrStdout())
			}
			findings, err := diagnose(command.Context(), from)
			if err != nil {
				return err
			}
			return writeFindings(command.OutOrStdout(), format, findings)
		},
	}
	from = cluster.New(command.Flags())
	format = console.AddOutput(command, console.FormatText, console.FormatJSON, console.FormatYAML)
	fix.add(command.Flags())
	command.Flags().BoolVar(&removesFinalizers, removeFinalizers, false, "only remove the finalizers of deleted experiments without an operator")
	return command
}

// writeFindings writes the findings, and fails if a prerequisite is missing.
func writeFindings(out io.Writer, format *console.Output, findings []Finding) error {
	p := console.NewPage(out)
	if format.IsData() {
		p.Err = format.Write(out, struct {
			Findings []Finding `json:"findings"`
		}{findings})
	} else {
		for _, found := range findings {
			p.Write(found.line(p.Style))
		}
	}
	if p.Err != nil {
		return fmt.Errorf("writing: %w", p.Err)
	}
	if slices.ContainsFunc(findings, func(f Finding) bool { return f.State == stateMissing }) {
		return errMissing
	}
	return nil
}

func diagnose(ctx context.Context, from *cluster.Cluster) ([]Finding, error) {
	reader, namespace, err := from.Reader()
	if err != nil {
		return nil, err
	}
	config, err := from.Config()
	if err != nil {
		return nil, err
	}
	served, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	version, err := served.ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("reaching the cluster at %s: %w", config.Host, err)
	}
	findings := []Finding{
		checkKubernetes(tested.Versions().Kubernetes, version.GitVersion, config.Host),
		checkKind(served, v1alpha1.GroupVersion.WithKind(cluster.ExperimentKind).GroupKind(), stateMissing, "PerfLab's kinds", installPerfLab),
	}
	operator := checkOperator(ctx, reader)
	findings = append(findings, operator...)
	if operator[0].State == stateMissing {
		findings = append(findings, checkDeletedObjects(ctx, reader)...)
	}
	findings = append(findings, checkDependencies(ctx, served, reader)...)
	findings = append(findings, checkAccount(ctx, reader, namespace)...)
	return append(findings, checkStorage(ctx, reader),
		checkRight(ctx, reader, namespace, v1alpha1.GroupVersion.Group, "perfexperiments", "create"),
		checkRight(ctx, reader, namespace, v1alpha1.GroupVersion.Group, "perfruns", "list"),
		checkRight(ctx, reader, namespace, "", "pods/log", "get"),
		optional(checkRight(ctx, reader, namespace, "", "pods", "delete"), "needed by faults")), nil
}

// optional makes a missing right a warning, with what needs it.
func optional(found Finding, need string) Finding {
	if found.State == stateMissing {
		found.State, found.Message = stateWarning, need+"; "+found.Message
	}
	return found
}

// checkKind checks that a kind is served in any version, the group's preferred
// one first.
func checkKind(served discovery.DiscoveryInterface, kind schema.GroupKind, severity state, subject, remedy string) Finding {
	groups, err := served.ServerGroups()
	if err != nil {
		return Finding{subject, severity, "the API groups can't be listed: " + err.Error()}
	}
	for _, group := range groups.Groups {
		if group.Name != kind.Group {
			continue
		}
		for _, version := range group.Versions {
			resources, err := served.ServerResourcesForGroupVersion(version.GroupVersion)
			if err != nil {
				return Finding{subject, severity, version.GroupVersion + " is registered but does not answer: " + err.Error()}
			}
			for _, resource := range resources.APIResources {
				if resource.Kind == kind.Kind {
					return Finding{subject, stateOK, kind.Kind + " in " + version.GroupVersion}
				}
			}
		}
	}
	return Finding{subject, severity, fmt.Sprintf("no %s in group %s: %s", kind.Kind, kind.Group, remedy)}
}

// operatorLabels select the Deployments of PerfLab's operator: installed by kustomize or by an
// older chart, or by a chart that may have another name.
var operatorLabels = []client.MatchingLabels{
	{"app.kubernetes.io/name": "perflab-operator"},
	{"app.kubernetes.io/part-of": "perflab", "app.kubernetes.io/component": "operator"},
}

// listOperators returns the Deployments of PerfLab's operator.
func listOperators(ctx context.Context, reader client.Reader) ([]appsv1.Deployment, error) {
	var found appsv1.DeploymentList
	for _, labels := range operatorLabels {
		if err := reader.List(ctx, &found, labels); err != nil || len(found.Items) > 0 {
			return found.Items, err
		}
	}
	return nil, nil
}

// checkOperator checks PerfLab's operator and the images that it is configured
// to use.
func checkOperator(ctx context.Context, reader client.Reader) []Finding {
	const subject = "PerfLab's operator"
	found, err := listOperators(ctx, reader)
	switch {
	case apierrors.IsForbidden(err):
		return []Finding{{subject, stateWarning, "unknown: you can't list Deployments in all namespaces"}}
	case err != nil:
		return []Finding{{subject, stateMissing, err.Error()}}
	case len(found) == 0:
		return []Finding{{subject, stateMissing, "no Deployment found: " + installPerfLab}}
	}
	operator := found[0]
	container := operator.Spec.Template.Spec.Containers[0]
	where := operator.Namespace + "/" + operator.Name
	state := Finding{subject, stateOK, fmt.Sprintf("%s, image %s", where, container.Image)}
	if operator.Status.AvailableReplicas == 0 {
		state = Finding{subject, stateMissing, fmt.Sprintf("Deployment %s has no ready pod: kubectl -n %s describe deployment %s", where, operator.Namespace, operator.Name)}
	}
	return append([]Finding{state}, checkImages(ctx, reader, container.Env)...)
}

func checkStorage(ctx context.Context, reader client.Reader) Finding {
	const subject, annotation = "storage", "storageclass.kubernetes.io/is-default-class"
	var classes storagev1.StorageClassList
	if err := reader.List(ctx, &classes); err != nil {
		return Finding{subject, stateWarning, "storage classes can't be listed: " + err.Error()}
	}
	for _, class := range classes.Items {
		if class.Annotations[annotation] == "true" {
			return Finding{subject, stateOK, fmt.Sprintf("default storage class %q (%s)", class.Name, class.Provisioner)}
		}
	}
	return Finding{subject, stateWarning, "no default storage class, which PostgreSQL's and Kafka's volumes need unless they name one: kubectl annotate storageclass NAME " + annotation + "=true"}
}

func checkRight(ctx context.Context, writer client.Client, namespace, group, resource, verb string) Finding {
	subject := fmt.Sprintf("your right to %s %s in namespace %q", verb, resource, namespace)
	name, sub, _ := strings.Cut(resource, "/")
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Group: group, Resource: name, Subresource: sub, Verb: verb},
	}}
	if err := writer.Create(ctx, review); err != nil {
		return Finding{subject, stateMissing, err.Error()}
	}
	if !review.Status.Allowed {
		return Finding{subject, stateMissing, "denied: ask an administrator for a Role with this right in the namespace"}
	}
	return Finding{subject, stateOK, "yes"}
}
