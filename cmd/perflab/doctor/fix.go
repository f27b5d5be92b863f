// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/client-go/discovery"

	"perflab.dev/perflab/cmd/perflab/cluster"
	"perflab.dev/perflab/cmd/perflab/console"
)

// allComponents is the value of --fix without one.
const allComponents = "all"

// fixOptions are the flags that install what is missing.
type fixOptions struct {
	components []string
	run        bool
}

func (o *fixOptions) add(flags *pflag.FlagSet) {
	flags.StringSliceVar(&o.components, "fix", nil, "only print the commands that install missing components: "+strings.Join(componentNames(), ", ")+"; default: all")
	flags.Lookup("fix").NoOptDefVal = allComponents
	flags.BoolVar(&o.run, "run", false, "with --fix, run the commands")
}

func (o *fixOptions) isSet() bool { return len(o.components) > 0 }

func componentNames() []string {
	var names []string
	for _, one := range dependencies {
		names = append(names, one.component)
	}
	return names
}

func (o *fixOptions) check(format *console.Output) error {
	if o.run && !o.isSet() {
		return errors.New("--run needs --fix")
	}
	if o.isSet() && format.IsData() {
		return errors.New("--fix prints commands: remove -o")
	}
	for _, name := range o.components {
		if name != allComponents && !slices.Contains(componentNames(), name) {
			return fmt.Errorf("--fix: unknown component %q: choose from %s", name, strings.Join(componentNames(), ", "))
		}
	}
	return nil
}

// apply prints the commands that install what is missing, and runs them if asked to.
func (o *fixOptions) apply(ctx context.Context, from *cluster.Cluster, out, errOut io.Writer) error {
	config, err := from.Config()
	if err != nil {
		return err
	}
	served, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("connecting to the cluster: %w", err)
	}
	missing, err := o.missing(served)
	if err != nil {
		return err
	}
	if len(missing) == 0 {
		_, err := fmt.Fprintln(errOut, "nothing is missing")
		return err
	}
	for _, one := range missing {
		command := append(one.tested().Command(), from.Arguments(one.tested().Command()[0])...)
		if _, err := fmt.Fprintf(out, "# %s %s\n%s\n", one.tested(), one.tested().Versions[0], shellWords(command)); err != nil {
			return fmt.Errorf("writing: %w", err)
		}
		if !o.run {
			continue
		}
		process := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // Our own words.
		process.Stdout, process.Stderr = out, errOut
		if err := process.Run(); err != nil {
			return fmt.Errorf("installing %s: %s: %w", one.tested(), command[0], err)
		}
	}
	return nil
}

// missing returns the selected dependencies that the cluster lacks. An API that is registered but
// does not answer counts as installed.
func (o *fixOptions) missing(served discovery.DiscoveryInterface) ([]dependency, error) {
	groups, err := served.ServerGroups()
	if err != nil {
		return nil, fmt.Errorf("listing the API groups: %w", err)
	}
	var missing []dependency
	for _, one := range dependencies {
		wanted := slices.Contains(o.components, allComponents) || slices.Contains(o.components, one.component)
		registered := false
		for _, group := range groups.Groups {
			registered = registered || group.Name == one.kind.Group
		}
		if wanted && !registered {
			missing = append(missing, one)
		}
	}
	return missing, nil
}

// shellWords is a command for a shell.
func shellWords(words []string) string {
	quoted := slices.Clone(words)
	for i, word := range quoted {
		if strings.ContainsAny(word, " '\"\\$`*?[]{}()<>|&;!~#\t\n") {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
