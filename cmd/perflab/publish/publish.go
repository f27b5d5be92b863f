// SPDX-License-Identifier: Apache-2.0

// Package publish has the commands that write, publish, export and archive reports.
package publish

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"perflab.dev/perflab/cmd/perflab/cluster"
	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/cmd/perflab/source"
	"perflab.dev/perflab/internal/publish"
	"perflab.dev/perflab/internal/report"
)

var errDestination = errors.New("choose one destination: --dir FOLDER, --confluence URL, --github OWNER/REPOSITORY#NUMBER or --github-summary")

type publishOptions struct {
	from    *cluster.Cluster
	sources []string
	dryRun  bool
	folder  string
	wiki    wikiOptions
	gitHub  gitHubOptions
}

// NewPublish returns the command publish.
func NewPublish() *cobra.Command {
	options := publishOptions{}
	command := &cobra.Command{
		Use:   "publish [NAME...]",
		Short: "Publish the report of an experiment",
		Long: `Publish the report of an experiment, or update what was published. Publications are
found by the experiment's UID. An unchanged report writes nothing.

  --dir FOLDER      a static site: a page for each report, and an index of all reports
                    in the folder, the newest first
  --confluence URL  a page of Confluence Cloud, with the charts as attachments, in the
                    space with the key --space, below the page --parent; a page that
                    was renamed or moved is found again
  --github OWNER/REPOSITORY#NUMBER
                    a comment with a short answer on an issue or a pull request, with a
                    link to the whole report if --link has its address
  --github-summary  the same in the summary of a GitHub Actions step

The experiments are the named ones in the cluster. With -f, they are those in files
and folders of objects: all, or the named ones.

Confluence's credentials are in CONFLUENCE_USER (the email address of an account) and
CONFLUENCE_TOKEN (an API token), or in the file --credentials. GitHub's token is in
GITHUB_TOKEN, and its API address in GITHUB_API_URL.

Exit codes: 0 success, 1 failure, 2 the recorded objects are invalid.`,
		Example: `  perflab publish maxram-vs-xmx -n lab --dir site
  perflab publish -f exports/ --dir site
  perflab publish maxram-vs-xmx -n lab --confluence https://team.atlassian.net \
    --space PERF --parent "Performance tests"
  perflab publish maxram-vs-xmx -n lab --github team/shop#7 \
    --link https://reports.example.org/lab/maxram-vs-xmx`,
		RunE: func(command *cobra.Command, names []string) error { return options.run(command, names) },
	}
	flags := command.Flags()
	options.from = cluster.New(flags)
	command.ValidArgsFunction = cluster.CompleteExperiment(options.from)
	source.AddMaxMemoryFlag(flags)
	flags.StringArrayVarP(&options.sources, "file", "f", nil, `file or folder with recorded objects; "-" is standard input; repeatable`)
	flags.BoolVar(&options.dryRun, "dry-run", false, "show what would be done")
	flags.StringVar(&options.folder, "dir", "", "folder of a static site to write the report to")
	options.wiki.add(flags)
	options.gitHub.add(flags)
	return command
}

func (o *publishOptions) run(command *cobra.Command, names []string) error {
	to, err := o.destination()
	if err != nil {
		return err
	}
	documents, err := o.reports(command, names)
	if err != nil {
		return err
	}
	return to(command, documents)
}

// destination returns the only named destination, after checking its flags.
func (o *publishOptions) destination() (func(*cobra.Command, []*report.Report) error, error) {
	if err := errors.Join(o.wiki.check(), o.gitHub.check()); err != nil {
		return nil, err
	}
	var named []func(*cobra.Command, []*report.Report) error
	for _, place := range []struct {
		named bool
		to    func(*cobra.Command, []*report.Report) error
	}{
		{o.folder != "", o.publishToFolder},
		{o.wiki.address != "", o.publishToWiki},
		{o.gitHub.thread != "", o.publishToGitHub},
		{o.gitHub.summary, o.publishToSummary},
	} {
		if place.named {
			named = append(named, place.to)
		}
	}
	if len(named) != 1 {
		return nil, errDestination
	}
	return named[0], nil
}

// reports returns the reports of the named experiments, or of all in the files.
func (o *publishOptions) reports(command *cobra.Command, names []string) ([]*report.Report, error) {
	inputs, err := o.recorded(command, names)
	if err != nil {
		return nil, err
	}
	documents := make([]*report.Report, 0, len(inputs))
	for _, input := range inputs {
		document, err := report.New(input)
		if err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
	return documents, nil
}

func (o *publishOptions) recorded(command *cobra.Command, names []string) ([]report.Input, error) {
	if len(o.sources) > 0 {
		in, err := source.CommandInput(command)
		if err != nil {
			return nil, err
		}
		inputs, err := source.ReadRecorded(in, o.sources)
		if err != nil {
			return nil, err
		}
		return selectInNamespace(inputs, names, *o.from.Flags.Namespace)
	}
	if len(names) == 0 {
		return nil, errSource
	}
	inputs := make([]report.Input, 0, len(names))
	for _, name := range names {
		input, err := o.from.Fetch(command.Context(), name)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, input)
	}
	return inputs, nil
}

// selectInNamespace selects experiments by name and namespace, where given.
func selectInNamespace(inputs []report.Input, names []string, namespace string) ([]report.Input, error) {
	own := slices.DeleteFunc(slices.Clone(inputs), func(input report.Input) bool {
		return namespace != "" && input.Experiment.Namespace != namespace
	})
	chosen, err := source.SelectByName(own, inputs, names)
	if err != nil {
		return nil, err
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("%w: no experiment of namespace %q in the files, only %s", exit.ErrOption, namespace, strings.Join(source.ExperimentNames(inputs), ", "))
	}
	return chosen, nil
}

// publishToFolder adds the reports to a static site.
func (o *publishOptions) publishToFolder(command *cobra.Command, documents []*report.Report) error {
	entries, err := publish.Entries(o.folder)
	if err != nil {
		return err
	}
	out := console.NewPage(command.OutOrStdout())
	for _, document := range documents {
		plan, err := publish.PlanFolder(o.folder, document, entries)
		if err != nil {
			return err
		}
		entries = plan.Entries
		if !o.dryRun {
			if err := plan.Write(); err != nil {
				return err
			}
		}
		out.Line("%s", plan.Describe(o.dryRun))
	}
	return out.Err
}
