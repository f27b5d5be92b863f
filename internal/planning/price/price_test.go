// SPDX-License-Identifier: Apache-2.0

package price_test

import (
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/price"
	"perflab.dev/perflab/internal/testing/expect"
)

func nodes(types ...string) []v1alpha1.EffectiveNode {
	var made []v1alpha1.EffectiveNode
	for i, instance := range types {
		made = append(made, v1alpha1.EffectiveNode{Name: string(rune('a' + i)), InstanceType: instance, Pods: 1})
	}
	return made
}

// The nodes of seed 003: okapi on three c7g.large, the rest on r7g.xlarge.
func TestPerHour(t *testing.T) {
	list, faults := price.Read(map[string]string{"c7g.large": "0.0725", "r7g.xlarge": " 0.2142\n", "free": "0", "big": "10"})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	cases := map[string]struct {
		nodes   []v1alpha1.EffectiveNode
		missing []string
		sum     string
		known   bool
	}{
		"Mixed":     {nodes: nodes("c7g.large", "c7g.large", "c7g.large", "r7g.xlarge", "r7g.xlarge"), sum: "0.6459", known: true},
		"WholeTens": {nodes: nodes("big", "big"), sum: "20", known: true},
		"Free":      {nodes: nodes("free"), sum: "0", known: true},
		"NotListed": {nodes: nodes("c7g.large", "m6i.large", "m5.large", "m6i.large"), missing: []string{"m5.large", "m6i.large"}},
		"NoType":    {nodes: nodes("c7g.large", ""), missing: []string{"the type of node b"}},
		"NoneAtAll": {},
		"SameTwice": {nodes: nodes("r7g.xlarge"), sum: "0.2142", known: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if missing := list.Mark(tc.nodes); !slices.Equal(missing, tc.missing) {
				t.Errorf("missing are %v, want %v", missing, tc.missing)
			}
			if sum, known := price.PerHour(tc.nodes); sum != tc.sum || known != tc.known {
				t.Errorf("%q (%t) per hour, want %q (%t)", sum, known, tc.sum, tc.known)
			}
		})
	}
}

func TestReadReportsInvalidPrices(t *testing.T) {
	list, faults := price.Read(map[string]string{"a": "0,07", "b": "-1", "c": "", "d": "1e3", "e": "$2", "f": "1/3", "good": "2"})
	expect.Equal(t, []string{"good"}, keys(list))
	if len(faults) != 6 || !strings.Contains(faults[0], `the price "0,07" of a is not a number`) {
		t.Errorf("faults are %q, want one for each of six", faults)
	}
}

func keys(list price.List) (names []string) {
	for name := range list {
		names = append(names, name)
	}
	return names
}
