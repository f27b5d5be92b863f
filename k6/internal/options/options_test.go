// SPDX-License-Identifier: AGPL-3.0-only

// Package options_test checks that PerfLab's data about k6's options matches k6.
package options_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.k6.io/k6/v2/lib"
	"go.k6.io/k6/v2/lib/executor"
	"go.k6.io/k6/v2/output"

	"perflab.dev/perflab/k6/internal/k6test"
)

func init() { output.RegisterExtension("execution", tell) }

func TestMain(m *testing.M) { k6test.Main(m) }

// execution is how k6 runs a script, in the format of the table.
type execution struct {
	Users      int64  `json:"users,omitempty"`
	Length     string `json:"length,omitempty"`
	Iterations bool   `json:"iterations,omitempty"`
	Replaces   bool   `json:"replaces,omitempty"`
	Refused    bool   `json:"refused,omitempty"`
}

var errTold = errors.New("the execution is told")

// tell returns an output that prints the execution, and then stops k6 before the test starts.
func tell(params output.Params) (output.Output, error) {
	told, err := executionOf(params.ScriptOptions.Scenarios)
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(told)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintln(params.StdOut, string(line)); err != nil {
		return nil, err
	}
	return nil, errTold
}

func executionOf(scenarios lib.ScenarioConfigs) (execution, error) {
	whole, err := lib.NewExecutionTuple(nil, nil)
	if err != nil {
		return execution{}, err
	}
	var told execution
	last := time.Duration(0)
	for _, config := range scenarios {
		told.Users = max(told.Users, int64(lib.GetMaxPossibleVUs(config.GetExecutionRequirements(whole))))
		length, ends := lengthOf(config)
		told.Iterations = told.Iterations || !ends
		last = max(last, config.GetStartTime()+length)
	}
	if !told.Iterations {
		told.Length = last.String()
	}
	return told, nil
}

// lengthOf returns false for a scenario that ends with its iterations.
func lengthOf(config lib.ExecutorConfig) (time.Duration, bool) {
	switch config := config.(type) {
	case executor.ConstantVUsConfig:
		return config.Duration.TimeDuration(), true
	case executor.RampingVUsConfig:
		return total(config.Stages), true
	case *executor.ConstantArrivalRateConfig:
		return config.Duration.TimeDuration(), true
	case *executor.RampingArrivalRateConfig:
		return total(config.Stages), true
	default:
		return 0, false
	}
}

func total(stages []executor.Stage) (length time.Duration) {
	for _, stage := range stages {
		length += stage.Duration.TimeDuration()
	}
	return length
}

type executionCase struct {
	Name      string            `json:"name"`
	Script    string            `json:"script"`
	File      string            `json:"file"`
	Arguments []string          `json:"arguments"`
	Env       map[string]string `json:"env"`
	Want      execution         `json:"want"`
}

func TestExecutionsMatchTable(t *testing.T) {
	text, err := os.ReadFile("testdata/executions.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []executionCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, tc := range cases {
		t.Run(tc.Name, func(t *testing.T) {
			t.Parallel()
			got, log := tc.run(t)
			if got != tc.Want {
				t.Errorf("k6 has %+v, the table %+v\n%s", got, tc.Want, log)
			}
		})
	}
}

func (tc executionCase) run(t *testing.T) (execution, string) {
	t.Helper()
	file := tc.File
	if file == "" {
		file = "main.js"
	}
	script := filepath.Join(t.TempDir(), file)
	if err := os.WriteFile(script, []byte(tc.Script), 0o600); err != nil {
		t.Fatal(err)
	}
	var env []string
	for name, value := range tc.Env {
		env = append(env, name+"="+value)
	}
	result := k6test.Run(t, script, env, append([]string{"--out=execution"}, tc.Arguments...)...)
	if !strings.Contains(result.Stderr, errTold.Error()) {
		return execution{Refused: true}, result.Stderr
	}
	var got execution
	if err := json.NewDecoder(strings.NewReader(result.Stdout)).Decode(&got); err != nil {
		t.Fatalf("%v: %s\n%s", err, result.Stdout, result.Stderr)
	}
	got.Replaces = strings.Contains(result.Stderr, "scenarios configuration")
	return got, result.Stderr
}

// flagLine matches a flag in k6's help, with the name of its value.
var flagLine = regexp.MustCompile(`(?m)^\s+(?:(-\w), |\s+)--([a-z0-9-]+)( \S+)?\s`)

func TestFlagsMatchList(t *testing.T) {
	want, err := os.ReadFile("testdata/flags.txt")
	if err != nil {
		t.Fatal(err)
	}
	help := k6test.Run(t, "", nil, "--help")
	var flags []string
	for _, parts := range flagLine.FindAllStringSubmatch(help.Stdout, -1) {
		line := parts[2]
		if parts[1] != "" {
			line += " " + parts[1]
		}
		if parts[3] == "" {
			line += " switch"
		}
		flags = append(flags, line)
	}
	slices.Sort(flags)
	if got := strings.Join(flags, "\n") + "\n"; got != string(want) {
		t.Errorf("k6 has\n%s, the list\n%s", got, want)
	}
}
