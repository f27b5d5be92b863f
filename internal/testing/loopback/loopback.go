// SPDX-License-Identifier: Apache-2.0

// Package loopback lets tests connect to their own servers, which listen on loopback.
package loopback

import "perflab.dev/perflab/internal/network/egress"

// Rules are those of an operator that may connect to loopback, too.
func Rules() egress.Rules {
	rules, err := egress.New(egress.Lists{Allow: []string{"127.0.0.0/8", "::1"}})
	if err != nil {
		panic(err)
	}
	return rules
}
