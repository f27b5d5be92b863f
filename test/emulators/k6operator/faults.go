// SPDX-License-Identifier: Apache-2.0

package k6operator

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"perflab.dev/perflab/test/emulators/fault"
)

// exitThen is the shell text that runs its arguments and then exits with a given code.
const exitThen = `"$@"; exit %d`

// faultyCommand wraps the command of one runner if a fault sets its exit code.
func faultyCommand(faults fault.Faults, index int, command []string) ([]string, error) {
	argument, declared := faults[fault.RunnerExit]
	if !declared {
		return command, nil
	}
	code := argument
	if which, only, one := strings.Cut(argument, ":"); one {
		if which != strconv.Itoa(index) {
			return command, nil
		}
		code = only
	}
	number, err := strconv.Atoi(code)
	if err != nil || number < 0 || number > 255 {
		return nil, fmt.Errorf("fault %s=%s: want a code or index:code, the code between 0 and 255", fault.RunnerExit, argument)
	}
	return append([]string{"sh", "-c", fmt.Sprintf(exitThen, number), "sh"}, command...), nil
}

// reachable returns the addresses without the runner that the starter must miss.
func reachable(faults fault.Faults, addresses []string) ([]string, error) {
	argument, declared := faults[fault.StarterMisses]
	if !declared {
		return addresses, nil
	}
	index, err := strconv.Atoi(argument)
	if err != nil || index < 1 || index > len(addresses) {
		return nil, fmt.Errorf("fault %s=%s: want the index of a runner, 1 to %d", fault.StarterMisses, argument, len(addresses))
	}
	return slices.Delete(slices.Clone(addresses), index-1, index), nil
}
