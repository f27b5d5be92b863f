// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"perflab.dev/perflab/internal/version"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say which PerfLab this is",
		Long: `Say which PerfLab this is: the release, or the commit it was built from.
The operator that worked on an experiment stands in the experiment's report.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(command.OutOrStdout(), version.Line("perflab"))
			return err
		},
	}
}
