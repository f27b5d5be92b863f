// SPDX-License-Identifier: Apache-2.0

// Package price computes the cost of nodes. Prices are exact decimal numbers. It is pure.
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

// decimals is the number of decimal places of a sum; hourly prices have up to six.
const decimals = 6

var number = regexp.MustCompile(`^[0-9]{1,9}([.][0-9]{1,9})?$`)

// List holds hourly prices by instance type.
type List map[string]*big.Rat

// Read parses a price list. It returns a fault for each entry without a valid price, and
// leaves it out.
func Read(entries map[string]string) (list List, faults []string) {
	list = List{}
	for _, instance := range slices.Sorted(maps.Keys(entries)) {
		text := strings.TrimSpace(entries[instance])
		price, ok := new(big.Rat), number.MatchString(text)
		if ok {
			price, ok = price.SetString(text)
		}
		if !ok {
			faults = append(faults, fmt.Sprintf("the price %q of %s is not a number: write it like 0.0725", entries[instance], instance))
			continue
		}
		list[instance] = price
	}
	return list, faults
}

// Mark sets each node's price and returns the sorted instance types that the list lacks. A
// node of unknown type is listed by its name.
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

// PerHour returns the hourly cost of all nodes; false if there are none or a price is
// unknown, because a partial sum is misleading.
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
