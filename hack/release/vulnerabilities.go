// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/vuln/scan"

	"perflab.dev/perflab/hack/release/internal/product"
)

var (
	errVulnerable = errors.New("the released programs call code with known vulnerabilities: see above")
	errNotChecked = errors.New("VULNERABILITIES WERE NOT CHECKED")
)

// publicDatabase is the database of the Go project.
const publicDatabase = "https://vuln.go.dev"

// patience is the timeout for reaching the database.
const patience = 15 * time.Second

// found is govulncheck's exit code for findings.
const found = 3

func newVulnerabilities() *cobra.Command {
	var source, database string
	check := &cobra.Command{
		Use:   "vulnerabilities",
		Short: "Check released programs against the Go vulnerability database (govulncheck)",
		Long: `Query the Go vulnerability database for the released programs, as govulncheck does: it
reports vulnerabilities in code that the programs can call, not in all of their modules.
Exit codes: 3 a vulnerability was found, 69 the database is unreachable and nothing was
checked.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := reachable(command.Context(), database); err != nil {
				return err
			}
			return checkPrograms(command.Context(), source, database, command.OutOrStdout())
		},
	}
	check.Flags().StringVar(&source, "source", ".", "root of the source")
	check.Flags().StringVar(&database, "db", cmp.Or(os.Getenv("GOVULNDB"), publicDatabase), "URL of the database: https://… or, for a copy, file:///… (env GOVULNDB)")
	return check
}

// reachable checks the database by requesting the index, which every database has.
func reachable(ctx context.Context, database string) error {
	address, err := url.Parse(database)
	if err != nil {
		return fmt.Errorf("--db %q: %w", database, err)
	}
	switch address.Scheme {
	case "file":
		_, err = os.Stat(filepath.Join(filepath.FromSlash(address.Path), "index", "db.json"))
	case "http", "https":
		err = answers(ctx, address.JoinPath("index", "db.json").String())
	default:
		return fmt.Errorf("--db %q: write a URL that begins with https:// or file://", database)
	}
	if err != nil {
		return fmt.Errorf("%w: the database %s is unreachable (%w); name a copy with GOVULNDB=file:///…", errNotChecked, database, err)
	}
	return nil
}

func answers(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // The body is not used.
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the answer is %s", answer.Status)
	}
	return nil
}

// checkPrograms checks all programs of each module together. It continues with the next
// module after a finding.
func checkPrograms(ctx context.Context, source, database string, out io.Writer) error {
	packages := map[string][]string{}
	var modules []string
	for _, program := range product.Programs {
		if packages[program.Module] == nil {
			modules = append(modules, program.Module)
		}
		packages[program.Module] = append(packages[program.Module], program.Package)
	}
	var problems []error
	for _, module := range modules {
		problems = append(problems, govulncheck(ctx, append([]string{"-C", filepath.Join(source, module), "-db", database}, packages[module]...), out))
	}
	return errors.Join(problems...)
}

func govulncheck(ctx context.Context, arguments []string, out io.Writer) error {
	command := scan.Command(ctx, arguments...)
	command.Stdout, command.Stderr = out, out
	if err := command.Start(); err != nil {
		return fmt.Errorf("starting govulncheck: %w", err)
	}
	err := command.Wait()
	var ended interface{ ExitCode() int }
	if errors.As(err, &ended) && ended.ExitCode() == found {
		return errVulnerable
	}
	if err != nil {
		return fmt.Errorf("govulncheck: %w", err)
	}
	return nil
}
