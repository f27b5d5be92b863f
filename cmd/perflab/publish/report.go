// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"perflab.dev/perflab/cmd/perflab/cluster"
	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/cmd/perflab/source"
	"perflab.dev/perflab/internal/inference/crosscompare"
	"perflab.dev/perflab/internal/report"
)

// Formats of reports, in addition to Markdown.
const (
	formatShort      = "md"
	formatCSV        = "csv"
	formatLevels     = "levels"
	formatConfluence = "confluence"
)

var errSource = errors.New("specify an experiment in the cluster (perflab report NAME) or files (-f)")

type reportOptions struct {
	from    *cluster.Cluster
	sources []string
	format  string
	charts  string
	against string
	notes   []string
}

// NewReport returns the command report.
func NewReport() *cobra.Command {
	options := reportOptions{}
	command := &cobra.Command{
		Use:   "report [NAME]",
		Short: "Write the report of an experiment",
		Long: `Write the report of an experiment, finished or not, from a cluster or from what
perflab export wrote. The same recorded objects give the same report.

  -o html        one file with charts, for browsers and print
  -o md          Markdown
  -o confluence  Confluence's storage format, to paste into a page's source
  -o csv         every observation, as perflab analyze reads it
  -o levels      CSV with the observations at each level of a capacity

Markdown and Confluence cannot contain the charts. --charts writes them to a folder as
SVG files. The page refers to them: by their path in Markdown, as attachments of the
page in Confluence.

--notes adds notes to those of the experiment: Markdown files, or all of a folder, with
the pictures next to them. A file is appended to the section with its name (results.md
to Results), or else to Summary.

With -f, files and folders of objects are read, as perflab export or kubectl get -o
yaml write them, compressed by gzip if they end in .gz. If there are several
experiments, NAME selects one.

--against names another experiment, for example last month's: like perflab compare, it
puts baseline and arms of both side by side in the section Comparison.

Exit codes: 0 success, 1 failure, 2 the recorded objects are invalid.`,
		Example: `  perflab report maxram-vs-xmx -n lab -o html > report.html
  perflab report -f maxram-vs-xmx.yaml -o md --charts charts > report.md
  perflab report heap-2024-09 -n lab --against heap-2024-06.yaml -o html > report.html
  perflab report -f maxram-vs-xmx.yaml -o html --notes findings/ > report.html
  perflab report -f maxram-vs-xmx.yaml -o csv | perflab analyze --baseline xmx`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error { return options.run(command, arguments) },
	}
	flags := command.Flags()
	options.from = cluster.New(flags)
	command.ValidArgsFunction = cluster.CompleteExperiment(options.from)
	source.AddMaxMemoryFlag(flags)
	flags.StringArrayVarP(&options.sources, "file", "f", nil, `file or folder with recorded objects; "-" is standard input; repeatable`)
	flags.StringVarP(&options.format, "output", "o", formatShort, "format of the report: html, md, confluence, csv or levels")
	flags.StringVar(&options.charts, "charts", "", "folder for charts and pictures of notes, with -o md and -o confluence")
	flags.StringArrayVar(&options.notes, "notes", nil, "Markdown file with notes, or folder with such files and their pictures; repeatable")
	flags.StringVar(&options.against, "against", "", "experiment to compare with: NAME, NAMESPACE/NAME or a file that perflab export wrote")
	return command
}

func (o *reportOptions) run(command *cobra.Command, arguments []string) error {
	if err := o.check(); err != nil {
		return err
	}
	recorded, err := o.recorded(command, arguments)
	if err != nil {
		return err
	}
	if recorded.Against, err = o.readAgainst(command); err != nil {
		return err
	}
	for _, path := range o.notes {
		if err := addNotes(&recorded, path); err != nil {
			return err
		}
	}
	document, err := report.New(recorded)
	if err != nil {
		return err
	}
	page, err := o.page(document)
	if err != nil {
		return err
	}
	if err := writeCharts(o.charts, document); err != nil {
		return err
	}
	if _, err := command.OutOrStdout().Write(page); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// readAgainst reads the experiment of --against, if any.
func (o *reportOptions) readAgainst(command *cobra.Command) (*crosscompare.ExperimentRuns, error) {
	if o.against == "" {
		return nil, nil //nolint:nilnil // Few reports have another experiment.
	}
	in, err := source.CommandInput(command)
	if err != nil {
		return nil, err
	}
	record, err := source.ReadRecord(command.Context(), o.from, in, o.against)
	if err != nil {
		return nil, err
	}
	return &record, nil
}

func (o *reportOptions) check() error {
	if !slices.Contains([]string{console.FormatHTML, formatShort, console.FormatMarkdown, formatCSV, formatLevels, formatConfluence}, o.format) {
		return fmt.Errorf("%w %q: write -o html, -o md, -o confluence, -o csv or -o levels", exit.ErrFormat, o.format)
	}
	isCSV := o.format == formatCSV || o.format == formatLevels
	if len(o.notes) > 0 && isCSV {
		return fmt.Errorf("%w: --notes requires -o html, -o md or -o confluence: CSV has only numbers", exit.ErrOption)
	}
	if o.charts != "" && (o.format == console.FormatHTML || isCSV) {
		return fmt.Errorf("%w: --charts requires -o md or -o confluence: HTML embeds its charts, CSV has none", exit.ErrOption)
	}
	return nil
}

// recorded reads the experiment from files or from the cluster.
func (o *reportOptions) recorded(command *cobra.Command, arguments []string) (report.Input, error) {
	name := strings.Join(arguments, "")
	if len(o.sources) == 0 {
		if name == "" {
			return report.Input{}, errSource
		}
		return o.from.Fetch(command.Context(), name)
	}
	in, err := source.CommandInput(command)
	if err != nil {
		return report.Input{}, err
	}
	inputs, err := source.ReadRecorded(in, o.sources)
	if err != nil {
		return report.Input{}, err
	}
	return o.selectExperiment(inputs, name)
}

// selectExperiment selects the named experiment, or the only one.
func (o *reportOptions) selectExperiment(inputs []report.Input, name string) (report.Input, error) {
	namespace := *o.from.Flags.Namespace
	var found []report.Input
	for _, input := range inputs {
		experiment := &input.Experiment
		if (name == "" || name == experiment.Name) && (namespace == "" || namespace == experiment.Namespace) {
			found = append(found, input)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return report.Input{}, fmt.Errorf("%w: the files have %s: name one of them, with -n for its namespace", exit.ErrOption, strings.Join(source.ExperimentNames(inputs), ", "))
}

func (o *reportOptions) page(document *report.Report) ([]byte, error) {
	switch o.format {
	case console.FormatHTML:
		return document.HTML()
	case formatCSV:
		return document.CSV()
	case formatLevels:
		return document.LevelsCSV()
	case formatConfluence:
		return document.Confluence(o.charts != "")
	}
	return document.Markdown(filepath.ToSlash(o.charts)), nil
}

// writeCharts writes the charts to a folder, and creates it if necessary.
func writeCharts(folder string, document *report.Report) error {
	if folder == "" {
		return nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("creating the folder of the charts: %w", err)
	}
	for _, files := range []map[string][]byte{document.Charts(), document.Pictures()} {
		for name, picture := range files {
			if err := os.WriteFile(filepath.Join(folder, name), picture, 0o644); err != nil {
				return fmt.Errorf("writing a chart: %w", err)
			}
		}
	}
	return nil
}
