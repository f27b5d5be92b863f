// SPDX-License-Identifier: Apache-2.0

// Package licence finds the licences of what a program links, and judges them.
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

// Policy is what a release may link.
type Policy struct {
	Allowed  []string            `yaml:"allowed"`
	Programs map[string][]string `yaml:"programs"`
	Decided  []Decision          `yaml:"decided"`
}

// Decision is what people found out about a module.
type Decision struct {
	Module  string   `yaml:"module"`
	Licence string   `yaml:"licence"`
	Files   []string `yaml:"files"`
	Why     string   `yaml:"why"`
}

// OwnPolicy is the project's.
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

// Judge refuses what a program may not link, each module with a sentence.
func (p Policy) Judge(program string, modules []Module) error {
	may := slices.Concat(p.Allowed, p.Programs[program])
	var refused []error
	for _, module := range modules {
		if module.Expression == "" {
			refused = append(refused, fmt.Errorf("%s links %s %s, whose licence is not known (%s): read it, and write what it is into policy.yaml", program, module.Path, module.Version, module.findings()))
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
