// SPDX-License-Identifier: Apache-2.0

// Package licence finds the licenses of the modules that a program links, and checks them.
package licence

import (
	_ "embed" // The policy.
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed policy.yaml
var policyFile []byte

// Policy defines what a release may link.
type Policy struct {
	Allowed  []string            `yaml:"allowed"`
	Programs map[string][]string `yaml:"programs"`
	Decided  []Decision          `yaml:"decided"`
}

// Decision is the reviewed license of a module.
type Decision struct {
	Module  string   `yaml:"module"`
	Licence string   `yaml:"licence"`
	Files   []string `yaml:"files"`
	Why     string   `yaml:"why"`
}

// OwnPolicy returns the policy of the project.
func OwnPolicy() (Policy, error) {
	var policy Policy
	if err := yaml.Unmarshal(policyFile, &policy); err != nil {
		return Policy{}, fmt.Errorf("reading policy.yaml: %w", err)
	}
	return policy, nil
}

func (p Policy) decision(module string) (Decision, bool) {
	at := slices.IndexFunc(p.Decided, func(d Decision) bool { return d.Module == module })
	if at < 0 {
		return Decision{}, false
	}
	return p.Decided[at], true
}

// Judge returns an error for each module that a program may not link.
func (p Policy) Judge(program string, modules []Module) error {
	may := slices.Concat(p.Allowed, p.Programs[program])
	var refused []error
	for _, module := range modules {
		if module.Expression == "" {
			refused = append(refused, fmt.Errorf("%s links %s %s, whose licence is unknown (%s): review it, and add it to policy.yaml", program, module.Path, module.Version, module.findings()))
			continue
		}
		for _, one := range strings.Split(module.Expression, " AND ") {
			if !slices.Contains(may, one) {
				refused = append(refused, fmt.Errorf("%s links %s %s, which is under %s: it may link %s", program, module.Path, module.Version, one, strings.Join(may, ", ")))
			}
		}
	}
	return errors.Join(refused...)
}

// choose returns the first of the licenses that a library offers which a program may link, or
// the first one if it may link none.
func (p Policy) choose(program string, offered []string) string {
	may := slices.Concat(p.Allowed, p.Programs[program])
	for _, one := range offered {
		if slices.Contains(may, one) {
			return one
		}
	}
	return strings.Join(offered, " OR ")
}
