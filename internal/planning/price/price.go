// SPDX-License-Identifier: Apache-2.0

// Package price says what the nodes of a system cost. Prices are exact decimal
// numbers. It is pure.
package price

import (
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
)

// decimals is to how many places a sum is written; prices per hour have up to
// six.
const decimals = 6

var number = regexp.MustCompile(`^[0-9]{1,9}([.][0-9]{1,9})?$`)

// List holds prices per hour by instance type.
type List map[string]*big.Rat

// Read reads the entries of a price list. It names every entry that has no
// price, and leaves it out.
func Read(entries map[string]string) (list List, faults []string) {
	list = List{}
	for _, instance := range slices.Sorted(maps.Keys(entries)) {
		text := strings.TrimSpace(entries[instance])
		price, ok := new(big.Rat), number.MatchString(text)
		if ok {
			price, ok = price.SetString(text)
		}
		if !ok {
			faults = append(faults, fmt.Sprintf("the price %q of %s is no number: write it like 0.0725", entries[instance], instance))
			continue
		}
		list[instance] = price
	}
	return list, faults
}

// Mark writes each node's price into it and returns, sorted, the instance types
// the list does not have. A node whose type is unknown counts as one called
// after the node.
func (l List) Mark(nodes []v1alpha1.EffectiveNode) (missing []string) {
	unlisted := map[string]bool{}
	for i := range nodes {
		node := &nodes[i]
		price, found := l[node.InstanceType]
		switch {
		case found:
			node.PricePerHour = write(price)
		case node.InstanceType == "":
			unlisted["the type of node "+node.Name] = true
		default:
			unlisted[node.InstanceType] = true
		}
	}
	return slices.Sorted(maps.Keys(unlisted))
}

// PerHour is what all nodes cost together in an hour. It says false when there
// are none or the price of one is not known: part of a sum is no sum.
func PerHour(nodes []v1alpha1.EffectiveNode) (sum string, known bool) {
	if len(nodes) == 0 {
		return "", false
	}
	total := new(big.Rat)
	for _, node := range nodes {
		price, ok := new(big.Rat).SetString(node.PricePerHour)
		if !ok {
			return "", false
		}
		total.Add(total, price)
	}
	return write(total), true
}

func write(price *big.Rat) string {
	text := price.FloatString(decimals)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
