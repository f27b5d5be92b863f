// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/jvm"
	"perflab.dev/perflab/internal/environment/modules"
	"perflab.dev/perflab/internal/text/prose"
)

// Variables that every JVM reads, in the order of precedence: before the options of its
// command, by the launcher before the command's options, and after them.
const (
	toolOptions = "JAVA_TOOL_OPTIONS"
	jdkOptions  = "JDK_JAVA_OPTIONS"
	lastOptions = "_JAVA_OPTIONS"
)

// javaOption is an option of a module's JVM.
type javaOption struct {
	text string
	// where it is declared, for messages, and as a setting.
	where string
	at    setting
	// declared: it comes from jvm.heap or jvm.metaspace.
	declared bool
}

// has begins a sentence about the option.
func (o javaOption) has(who string) string {
	return fmt.Sprintf("%s: %s has %q, ", who, o.where, o.text)
}

// java is the known configuration of a module's JVM.
type java struct {
	who     string
	options []javaOption
	machine jvm.Machine
	// release of the JDK, as for jvm.Check.
	release int
}

// javaFindings validates the options of a module's JVM, wherever they are written.
func javaFindings(who string, module *v1alpha1.Module, at setting) []finding {
	found := append(spellingFindings(who, module, below(at, "jvm", "options")), releaseFindings(who, module, below(at, "image"))...)
	started := java{who: who, options: javaOptions(module, at), machine: modules.Machine(*module), release: javaRelease(module)}
	found = append(found, started.startFindings()...)
	if module.JVM != nil && module.JVM.Heap != nil && len(found) == 0 {
		found = append(found, started.heapFindings(below(at, "jvm", "heap"))...)
		found = append(found, started.roomFindings(below(at, "resources", "limits", "memory"))...)
	}
	return append(found, scriptOptionFindings(who, module, started, below(at, "env"))...)
}

// javaRelease returns the JDK of a module. A module with jvm has a JDK that logs its heap.
func javaRelease(module *v1alpha1.Module) int {
	release := jvm.ImageRelease(module.Image)
	if release == 0 && module.JVM == nil {
		return jvm.AnyRelease
	}
	return release
}

// oldestLogged is the oldest JDK that logs its maximum heap at startup.
const oldestLogged = 16

func releaseFindings(who string, module *v1alpha1.Module, at setting) []finding {
	release := jvm.ImageRelease(module.Image)
	if module.JVM == nil || release == 0 || release >= oldestLogged {
		return nil
	}
	return []finding{wrong(module.Image,
		fmt.Sprintf("the image of %s has JDK %d, which does not log the size of its heap, so every run with jvm would be invalid: write an image with JDK %d or later, or remove jvm and write the options into env", who, release, oldestLogged),
		at, setting{"modules", module.Name, "jvm"})}
}

// javaOptions returns the options that the JVM reads itself, in order of precedence.
func javaOptions(module *v1alpha1.Module, at setting) []javaOption {
	const command = ""
	variable := module.JVM.VariableOrDefault()
	if variable != toolOptions && variable != jdkOptions && variable != lastOptions {
		// A start script adds it to the command.
		variable = command
	}
	var options []javaOption
	for _, source := range []string{toolOptions, jdkOptions, command, lastOptions} {
		if source == variable {
			options = append(options, declaredOptions(module, at)...)
		} else {
			options = append(options, variableOptions(module, source, at)...)
		}
		if source == command {
			options = append(options, commandOptions(module.Command, "command", at)...)
			options = append(options, commandOptions(module.Args, "args", at)...)
		}
	}
	return options
}

// declaredOptions returns the options of jvm.
func declaredOptions(module *v1alpha1.Module, at setting) []javaOption {
	if module.JVM == nil {
		return nil
	}
	settings := environment.JVMSettings(module.JVM)
	settings.Options = nil
	var options []javaOption
	for _, word := range jvm.SplitOptions(jvm.Rewrite("", settings)) {
		options = append(options, javaOption{text: word, where: "jvm", at: below(at, "jvm"), declared: true})
	}
	for _, word := range module.JVM.Options {
		options = append(options, javaOption{text: word, where: "jvm.options", at: below(at, "jvm", "options", word)})
	}
	return options
}

// variableOptions returns the options of a variable that the module sets.
func variableOptions(module *v1alpha1.Module, name string, at setting) []javaOption {
	var options []javaOption
	for _, variable := range module.Env {
		if variable.Name != name || variable.ValueFrom != nil {
			continue
		}
		for _, word := range jvm.SplitOptions(variable.Value) {
			// References to other variables are not expanded here.
			if !strings.Contains(word, "$(") {
				options = append(options, javaOption{text: word, where: name, at: below(at, "env", name)})
			}
		}
	}
	return options
}

// commandOptions returns the options of a command, or its arguments.
func commandOptions(words []string, field string, at setting) []javaOption {
	var options []javaOption
	for _, word := range words {
		if strings.HasPrefix(word, "-X") || strings.HasPrefix(word, "-mx") || strings.HasPrefix(word, "@") {
			options = append(options, javaOption{text: word, where: field, at: below(at, field, word)})
		}
	}
	return options
}

// startFindings returns options that prevent the JVM from starting, or have no effect.
func (j java) startFindings() []finding {
	words := make([]string, 0, len(j.options))
	for _, option := range j.options {
		words = append(words, option.text)
	}
	var found []finding
	for _, fault := range jvm.Check(words, j.release, j.machine) {
		option := j.options[fault.Index]
		sentence := option.has(j.who) + fault.Message
		if fault.IsWarning {
			found = append(found, doubtful(sentence, option.at))
			continue
		}
		found = append(found, wrong(option.text, sentence, option.at))
	}
	return found
}

// unlimited is the assumed memory of a container without a limit, in comparisons.
const unlimited = 8 << 30

// heapFindings returns options that override jvm.heap.
func (j java) heapFindings(at setting) []finding {
	machine := j.machine
	if machine.Memory == 0 {
		machine.Memory = unlimited
	}
	declared, err := maxHeap(j.options, machine, func(option javaOption) bool { return option.declared })
	if err != nil {
		// The API's rules reject it.
		return nil
	}
	heap := func(without int) (int64, error) {
		i := -1
		return maxHeap(j.options, machine, func(javaOption) bool { i++; return i != without })
	}
	granted, fault := heap(len(j.options))
	for i, option := range j.options {
		if option.declared || !jvm.ReadsFile(option.text) && (fault == nil && granted == declared) {
			continue
		}
		if jvm.ReadsFile(option.text) {
			return []finding{wrong(option.text, option.has(j.who)+"a file whose options may override jvm.heap: write them into jvm.options", option.at, at)}
		}
		if rest, err := heap(i); err == nil && rest == declared {
			return []finding{wrong(option.text, option.has(j.who)+j.heapFault(granted, declared, fault), option.at, at)}
		}
	}
	return nil
}

func (j java) heapFault(granted, declared int64, fault error) string {
	switch {
	case errors.Is(fault, jvm.ErrInitial):
		return "which sets an initial heap larger than jvm.heap, so the JVM does not start: write a smaller one"
	case fault != nil:
		return "which the JVM rejects: " + fault.Error()
	}
	return fmt.Sprintf("which overrides jvm.heap: the heap would be %s, not %s; remove it, or write its heap into jvm.heap", binary(granted), binary(declared))
}

// maxHeap returns the maximum heap for a subset of the options.
func maxHeap(options []javaOption, machine jvm.Machine, counts func(javaOption) bool) (int64, error) {
	var words []string
	for _, option := range options {
		if counts(option) {
			words = append(words, option.text)
		}
	}
	heap, err := jvm.MaxHeap(strings.Join(words, " "), machine)
	return heap.Bytes, err
}

func binary(bytes int64) *resource.Quantity { return resource.NewQuantity(bytes, resource.BinarySI) }

// roomFindings checks that heap, metaspace and other bounded memory leave enough for
// threads and buffers. The JVM may still run, so it is a warning.
func (j java) roomFindings(limit setting) []finding {
	heap, err := maxHeap(j.options, j.machine, func(javaOption) bool { return true })
	if err != nil || j.machine.Memory == 0 || heap > j.machine.Memory {
		return nil
	}
	total, parts, place := heap, []string{binary(heap).String() + " of heap"}, limit
	for _, area := range []struct{ flag, name string }{
		{"MaxMetaspaceSize", "metaspace"}, {"MaxDirectMemorySize", "direct memory"}, {"ReservedCodeCacheSize", "code cache"},
	} {
		for _, option := range slices.Backward(j.options) {
			if size, sets := jvm.OptionSize(option.text, area.flag); sets {
				total += size
				parts, place = append(parts, fmt.Sprintf("%s of %s", binary(size), area.name)), option.at
				break
			}
		}
	}
	if total < j.machine.Memory || total == j.machine.Memory && len(parts) > 1 {
		return nil
	}
	share := "together more than"
	if total == j.machine.Memory {
		share = "all of"
	}
	return []finding{doubtful(fmt.Sprintf("%s may use %s, %s its memory limit of %s: it can be killed under load; lower one of them, or raise the limit",
		j.who, prose.List(parts, "and"), share, binary(j.machine.Memory)), place, limit)}
}

// scriptVariable matches variables that start scripts pass to a JVM.
var scriptVariable = regexp.MustCompile(`(?i)java|jvm|_opts$`)

// scriptOptionFindings validates variables that only some images pass to the JVM.
func scriptOptionFindings(who string, module *v1alpha1.Module, started java, at setting) []finding {
	var found []finding
	for _, variable := range module.Env {
		name := variable.Name
		if !scriptVariable.MatchString(name) || name == toolOptions || name == jdkOptions || name == lastOptions || module.JVM != nil && name == module.JVM.VariableOrDefault() {
			continue
		}
		other := java{who: who, options: variableOptions(module, name, at[:2]), machine: started.machine, release: started.release}
		found = append(found, other.startFindings()...)
		for _, option := range other.options {
			if module.JVM != nil && module.JVM.Heap != nil && jvm.SetsHeap(option.text) {
				found = append(found, doubtful(option.has(who)+"in addition to jvm.heap: if the image passes it to the JVM, one of them has no effect; remove it, or name the variable in jvm.variable and remove it from env", option.at))
			}
		}
	}
	return found
}

// spellingFindings validates options of jvm one by one.
func spellingFindings(who string, module *v1alpha1.Module, at setting) []finding {
	if module.JVM == nil {
		return nil
	}
	var found []finding
	for _, option := range module.JVM.Options {
		if sentence := optionFault(option, module.JVM); sentence != "" {
			found = append(found, wrong(option, fmt.Sprintf("%s: jvm.options has %q, %s", who, option, sentence), below(at, option)))
		}
	}
	return found
}

func optionFault(option string, declared *v1alpha1.JVM) string {
	metaspace := declared.Metaspace
	switch {
	case len(strings.Fields(option)) != 1 || strings.TrimSpace(option) != option:
		return "which is not one flag: write one flag per entry, without spaces"
	case !strings.HasPrefix(option, "-"):
		return "which is not a flag: a flag starts with '-'"
	case jvm.SetsHeap(option):
		return "which sets the heap: write jvm.heap.max or jvm.heap.maxRAMPercentage instead"
	case strings.HasPrefix(option, "-XX:MaxMetaspaceSize=") && metaspace != nil && metaspace.Max != nil,
		strings.HasPrefix(option, "-XX:MetaspaceSize=") && metaspace != nil && metaspace.Initial != nil:
		return "which jvm.metaspace already sets: remove one of them"
	default:
		return ""
	}
}
