// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/publish"
	"perflab.dev/perflab/internal/report"
)

// Variables with the login, in the environment or a file.
const (
	userVariable  = "CONFLUENCE_USER"
	tokenVariable = "CONFLUENCE_TOKEN"
)

// wikiOptions are the flags for pages in Confluence.
type wikiOptions struct {
	address, space, parent, title, credentials string
	adopt                                      bool
}

func (o *wikiOptions) add(flags *pflag.FlagSet) {
	flags.StringVar(&o.address, "confluence", "", "address of a site of Confluence Cloud, https://TEAM.atlassian.net")
	flags.StringVar(&o.space, "space", "", "key of the space")
	flags.StringVar(&o.parent, "parent", "", "title or number of the parent of a new page")
	flags.StringVar(&o.title, "title", "", "title of the page (default the question and the experiment's name)")
	flags.BoolVar(&o.adopt, "adopt", false, "overwrite a page with this title that was not published from here")
	flags.StringVar(&o.credentials, "credentials", "", "file with lines "+userVariable+"=… and "+tokenVariable+"=…, in place of the environment")
}

func (o *wikiOptions) check() error {
	hasOptions := cmp.Or(o.space, o.parent, o.title, o.credentials) != "" || o.adopt
	switch {
	case o.address == "" && hasOptions:
		return fmt.Errorf("%w: --space, --parent, --title, --adopt and --credentials require --confluence", exit.ErrOption)
	case o.address != "" && o.space == "":
		return fmt.Errorf("%w: --confluence requires --space: the key in the address of the space's pages, after /spaces/", exit.ErrOption)
	}
	return nil
}

// login reads the login from the file or the environment.
func (o *wikiOptions) login() (user, token string, err error) {
	variable := os.Getenv
	from := "the environment"
	if o.credentials != "" {
		from = o.credentials
		text, err := os.ReadFile(o.credentials)
		if err != nil {
			return "", "", fmt.Errorf("reading the login: %w", err)
		}
		variable = func(name string) string { return assignedValue(text, name) }
	}
	if token = variable(tokenVariable); token == "" {
		return "", "", fmt.Errorf("%w: %s is not set in %s: create a token at https://id.atlassian.com/manage-profile/security/api-tokens, and set %s to the account's email address", exit.ErrOption, tokenVariable, from, userVariable)
	}
	return variable(userVariable), token, nil
}

// assignedValue is the value in a line NAME=VALUE.
func assignedValue(text []byte, name string) string {
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if key, value, found := strings.Cut(strings.TrimSpace(lines.Text()), "="); found && strings.TrimSpace(key) == name {
			return strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return ""
}

// publishToWiki writes a page for each report.
func (o *publishOptions) publishToWiki(command *cobra.Command, documents []*report.Report) error {
	if o.wiki.title != "" && len(documents) > 1 {
		return fmt.Errorf("%w: %d experiments can't have the same --title: name one of them", exit.ErrOption, len(documents))
	}
	user, token, err := o.wiki.login()
	if err != nil {
		return err
	}
	site, err := publish.NewConfluence(o.wiki.address, user, token)
	if err != nil {
		return err
	}
	out := console.NewPage(command.OutOrStdout())
	shelf := publish.Location{Space: o.wiki.space, Parent: o.wiki.parent, Adopt: o.wiki.adopt, DryRun: o.dryRun}
	for _, document := range documents {
		article, err := publish.NewArticle(document, o.wiki.title)
		if err != nil {
			return err
		}
		done, err := site.Publish(command.Context(), article, shelf)
		if err != nil {
			return err
		}
		out.Line("%s", done)
	}
	return out.Err
}
