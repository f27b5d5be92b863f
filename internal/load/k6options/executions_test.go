// SPDX-License-Identifier: Apache-2.0

package k6options_test

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"perflab.dev/perflab/internal/load/k6options"
)

// execution is the expected result of a case. A test in k6/ compares the same table with a real k6.
type execution struct {
	Users      int64  `json:"users,omitempty"`
	Length     string `json:"length,omitempty"`
	Iterations bool   `json:"iterations,omitempty"`
	Replaces   bool   `json:"replaces,omitempty"`
	Refused    bool   `json:"refused,omitempty"`
}

type executionCase struct {
	Name      string            `json:"name"`
	Script    string            `json:"script"`
	File      string            `json:"file"`
	Arguments []string          `json:"arguments"`
	Env       map[string]string `json:"env"`
	Want      execution         `json:"want"`
}

func executionCases(t testing.TB) []executionCase {
	t.Helper()
	text, err := os.ReadFile("../../../k6/internal/options/testdata/executions.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []executionCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

func TestReadMatchesK6(t *testing.T) {
	for _, tc := range executionCases(t) {
		t.Run(tc.Name, func(t *testing.T) {
			got, err := read(k6options.Run{
				Script:    &k6options.Script{Name: tc.File, Text: tc.Script},
				Arguments: tc.Arguments, Env: tc.Env,
			})
			if diff := cmp.Diff(tc.Want, got); diff != "" {
				t.Errorf("(-want +got):\n%s%v", diff, err)
			}
		})
	}
}

// read returns an execution in the table's form.
func read(run k6options.Run) (execution, error) {
	found, err := k6options.Read(run)
	var refusal *k6options.Refusal
	if errors.As(err, &refusal) {
		return execution{Refused: true}, err
	}
	if err != nil {
		return execution{}, err
	}
	length, ends := found.Length()
	users, err := found.Users()
	told := execution{Users: users, Replaces: found.Replaces}
	if told.Iterations = errors.Is(ends, k6options.ErrIterations) || errors.Is(ends, k6options.ErrNone); !told.Iterations {
		told.Length = length.String()
	}
	return told, errors.Join(ends, err)
}
