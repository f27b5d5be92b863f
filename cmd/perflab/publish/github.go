// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/publish"
	"perflab.dev/perflab/internal/report"
)

// Environment variables of GitHub Actions.
const (
	gitHubTokenVariable   = "GITHUB_TOKEN"
	gitHubAddressVariable = "GITHUB_API_URL"
	gitHubSummaryVariable = "GITHUB_STEP_SUMMARY"
)

// gitHubOptions are the flags for comments and step summaries.
type gitHubOptions struct {
	thread  string
	summary bool
	link    string
}

func (o *gitHubOptions) add(flags *pflag.FlagSet) {
	flags.StringVar(&o.thread, "github", "", "issue or pull request to comment on: OWNER/REPOSITORY#NUMBER")
	flags.BoolVar(&o.summary, "github-summary", false, "add a short answer to the summary of a GitHub Actions step ("+gitHubSummaryVariable+")")
	flags.StringVar(&o.link, "link", "", "address of the whole report, for --github and --github-summary")
}

func (o *gitHubOptions) check() error {
	if o.link != "" && o.thread == "" && !o.summary {
		return fmt.Errorf("%w: --link requires --github or --github-summary", exit.ErrOption)
	}
	return nil
}

// publishToGitHub writes a comment for each report on an issue or pull request.
func (o *publishOptions) publishToGitHub(command *cobra.Command, documents []*report.Report) error {
	on, err := publish.ParseThread(o.gitHub.thread)
	if err != nil {
		return fmt.Errorf("%w: %w", exit.ErrOption, err)
	}
	token := os.Getenv(gitHubTokenVariable)
	if token == "" {
		return fmt.Errorf("%w: %s is not set: its token must be allowed to write issues and pull requests of the repository", exit.ErrOption, gitHubTokenVariable)
	}
	site, err := publish.NewGitHub(os.Getenv(gitHubAddressVariable), token)
	if err != nil {
		return err
	}
	return o.publishNotes(command, documents, func(note publish.Note) (string, error) {
		return site.Comment(command.Context(), on, note, o.dryRun)
	})
}

// publishToSummary adds each report to a step's summary.
func (o *publishOptions) publishToSummary(command *cobra.Command, documents []*report.Report) error {
	path := os.Getenv(gitHubSummaryVariable)
	if path == "" {
		return fmt.Errorf("%w: %s is not set: --github-summary needs a step of GitHub Actions", exit.ErrOption, gitHubSummaryVariable)
	}
	return o.publishNotes(command, documents, func(note publish.Note) (string, error) {
		return publish.AppendSummary(path, note, o.dryRun)
	})
}

func (o *publishOptions) publishNotes(command *cobra.Command, documents []*report.Report, put func(publish.Note) (string, error)) error {
	out := console.NewPage(command.OutOrStdout())
	for _, document := range documents {
		note, err := publish.NewNote(document, o.gitHub.link)
		if err != nil {
			return err
		}
		done, err := put(note)
		if err != nil {
			return err
		}
		out.Line("%s", done)
	}
	return out.Err
}
