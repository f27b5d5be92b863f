// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"perflab.dev/perflab/cmd/perflab/cluster"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/inference/crosscompare"
	"perflab.dev/perflab/internal/report"
)

// SelectByName selects own experiments by name; all without names. The error lists
// all inputs.
func SelectByName(own, inputs []report.Input, names []string) ([]report.Input, error) {
	if len(names) == 0 {
		return slices.Clone(own), nil
	}
	for _, name := range names {
		if !slices.ContainsFunc(own, func(input report.Input) bool { return input.Experiment.Name == name }) {
			return nil, fmt.Errorf("%w: no experiment %q in the files, only %s", exit.ErrOption, name, strings.Join(ExperimentNames(inputs), ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(own), func(input report.Input) bool {
		return !slices.Contains(names, input.Experiment.Name)
	}), nil
}

// ExperimentNames are the names of experiments, as NAMESPACE/NAME.
func ExperimentNames(inputs []report.Input) []string {
	names := make([]string, 0, len(inputs))
	for _, input := range inputs {
		names = append(names, input.Experiment.Namespace+"/"+input.Experiment.Name)
	}
	return names
}

// ReadRecorded reads the objects of files and folders.
func ReadRecorded(in *Input, sources []string) ([]report.Input, error) {
	paths, err := AllFiles(sources)
	if err != nil {
		return nil, err
	}
	var read report.Reader
	for _, path := range paths {
		if err := in.objects(path, read.Add); err != nil {
			return nil, err
		}
	}
	return read.Inputs()
}

// ReadOneRecorded reads a file with exactly one experiment.
func ReadOneRecorded(in *Input, path string) (*report.Input, error) {
	inputs, err := ReadRecorded(in, []string{path})
	if err != nil {
		return nil, err
	}
	if len(inputs) != 1 {
		return nil, fmt.Errorf("%w: %s has %d experiments: export each to a separate file with perflab export NAME", exit.ErrOption, path, len(inputs))
	}
	return &inputs[0], nil
}

// IsRecordedFile reports whether a file has objects, by its name.
func IsRecordedFile(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(strings.TrimSuffix(name, gzipExtension)))
}

// IsFile distinguishes a file from the name of an experiment.
func IsFile(path string) bool {
	found, err := os.Stat(path)
	return err == nil && found.Mode().IsRegular()
}

// AllFiles returns the files of all sources.
func AllFiles(sources []string) ([]string, error) {
	var all []string
	for _, source := range sources {
		paths, err := ListFiles(source)
		if err != nil {
			return nil, err
		}
		all = append(all, paths...)
	}
	return all, nil
}

// ListFiles returns the file itself, or the YAML and JSON files of a folder.
func ListFiles(source string) ([]string, error) {
	if source == StandardInput {
		return []string{source}, nil
	}
	found, err := os.Stat(source)
	if err != nil {
		return nil, fmt.Errorf("opening the file: %w", err)
	}
	if !found.IsDir() {
		return []string{source}, nil
	}
	var paths []string
	entries, err := os.ReadDir(source)
	if err != nil {
		return nil, fmt.Errorf("listing the folder %s: %w", source, err)
	}
	for _, entry := range entries {
		if IsRecordedFile(entry.Name()) {
			paths = append(paths, filepath.Join(source, entry.Name()))
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%w: the folder %s has no file with the extension .yaml, .yml or .json, or these and %s", exit.ErrUnusable, source, gzipExtension)
	}
	return paths, nil
}

// ReadRecord reads an experiment from the cluster or from a file.
func ReadRecord(ctx context.Context, from *cluster.Cluster, in *Input, argument string) (crosscompare.ExperimentRuns, error) {
	if IsRecordedFile(argument) {
		return readRecordFile(in, argument)
	}
	reader, key, err := from.Resolve(argument)
	if err != nil {
		return crosscompare.ExperimentRuns{}, err
	}
	recorded, err := cluster.Fetch(ctx, reader, key.Namespace, key.Name)
	return crosscompare.ExperimentRuns{Experiment: &recorded.Experiment, Runs: recorded.Runs}, err
}

func readRecordFile(in *Input, path string) (crosscompare.ExperimentRuns, error) {
	recorded, err := ReadOneRecorded(in, path)
	if err != nil {
		return crosscompare.ExperimentRuns{}, err
	}
	return crosscompare.ExperimentRuns{Experiment: &recorded.Experiment, Runs: recorded.Runs}, nil
}
