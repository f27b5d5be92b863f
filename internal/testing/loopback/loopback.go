// SPDX-License-Identifier: Apache-2.0

// Package loopback lets tests connect to servers on the loopback interface.
package loopback

import "perflab.dev/perflab/internal/network/egress"

// Rules returns the operator's egress rules, plus loopback.
func Rules() egress.Rules {
	rules, err := egress.New(egress.Lists{Allow: []string{"127.0.0.0/8", "::1"}})
	if err != nil {
		panic(err)
	}
	return rules
}
