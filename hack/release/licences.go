// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"perflab.dev/perflab/hack/release/internal/licence"
	"perflab.dev/perflab/hack/release/internal/product"
)

func newLicences() *cobra.Command {
	var source string
	var write bool
	check := &cobra.Command{
		Use:   "licences",
		Short: "Check the licences of the released programs, and NOTICE",
		Long: `Check that each program links only what its licences let it, and that NOTICE says so.
Which they may be, and what people decided where a file does not tell, is in
hack/release/internal/licence/policy.yaml.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			linked, err := licences(command.Context(), source)
			if err != nil {
				return err
			}
			return currentNotice(filepath.Join(source, "NOTICE"), licence.Notice(product.Programs, linked), write)
		},
	}
	check.Flags().StringVar(&source, "source", ".", "root of the source")
	check.Flags().BoolVar(&write, "write", false, "write NOTICE")
	return check
}

// licences returns what each program links, and an error for what it may not link.
func licences(ctx context.Context, source string) (map[string][]licence.Module, error) {
	policy, err := licence.OwnPolicy()
	if err != nil {
		return nil, err
	}
	scanner, err := licence.NewScanner(ctx, policy)
	if err != nil {
		return nil, err
	}
	linked := map[string][]licence.Module{}
	var refused []error
	for _, program := range product.Programs {
		if linked[program.Name], err = scanner.Modules(ctx, source, program); err != nil {
			return nil, err
		}
		refused = append(refused, policy.Judge(program.Name, linked[program.Name]))
	}
	return linked, errors.Join(refused...)
}

func currentNotice(file, wanted string, write bool) error {
	if write {
		return os.WriteFile(file, []byte(wanted), 0o644) //nolint:gosec // It is to be read by everybody.
	}
	found, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("reading NOTICE: %w", err)
	}
	if string(found) != wanted {
		return errors.New("NOTICE is out of date: run make notice, review the change, and commit it")
	}
	return nil
}
