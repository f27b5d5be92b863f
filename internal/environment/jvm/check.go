// SPDX-License-Identifier: Apache-2.0

package jvm

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"perflab.dev/perflab/internal/planning/repair"
)

// AnyRelease is an unknown release of the JDK. 0 is any supported release, 17 to 25.
const AnyRelease = -1

// Fault is an option that a JVM rejects or ignores.
type Fault struct {
	// Index of the option.
	Index int
	// Message follows the option in a sentence: the reason, and what to write instead.
	Message string
	// IsWarning: the JVM starts, or may start.
	IsWarning bool
	// unrecognized: the JVM can be configured to ignore it.
	unrecognized bool
}

// Check finds options that prevent a JVM from starting, or that it ignores, in the order in
// which it reads them. release is that of its JDK.
func Check(options []string, release int, machine Machine) []Fault {
	checked := check{release: release, unlocked: map[byte]bool{}, chosen: map[string]bool{}}
	for i, word := range options {
		checked.option(i, unquoted(word))
	}
	checked.collectors(options, machine)
	if checked.tolerant {
		return slices.DeleteFunc(checked.faults, func(fault Fault) bool { return fault.unrecognized })
	}
	return checked.faults
}

// check is the state of the check of a JVM's options.
type check struct {
	release  int
	faults   []Fault
	unlocked map[byte]bool
	// chosen maps collectors' flags to on or off.
	chosen   map[string]bool
	tolerant bool
}

func (c *check) fault(index int, sentence string, args ...any) {
	c.faults = append(c.faults, Fault{Index: index, Message: fmt.Sprintf(sentence, args...)})
}

func (c *check) doubt(index int, sentence string, args ...any) {
	c.faults = append(c.faults, Fault{Index: index, Message: fmt.Sprintf(sentence, args...), IsWarning: true})
}

var xxOption = regexp.MustCompile(`^-XX:([+-]?)([^=]*)(=?)(.*)$`)

func (c *check) option(index int, word string) {
	parts := xxOption.FindStringSubmatch(word)
	if parts == nil {
		if since, gone := removedWords[word]; gone && c.release != AnyRelease && (c.release == 0 || c.release >= since) {
			c.unrecognized(index, "which JDK %d and later do not support: remove it", since)
		}
		return
	}
	given := xx{sign: parts[1], name: parts[2], equals: parts[3], value: parts[4]}
	on := given.sign == "+"
	if _, picks := collectors[given.name]; picks && given.sign != "" {
		c.chosen[given.name] = on
	}
	switch given.name {
	case "UnlockExperimentalVMOptions":
		c.unlocked[experimental] = on
	case "UnlockDiagnosticVMOptions":
		c.unlocked[diagnostic] = on
	case "IgnoreUnrecognizedVMOptions":
		c.tolerant = on
	default:
		c.flag(index, given)
	}
}

// xx is a -XX: option.
type xx struct{ sign, name, equals, value string }

func (c *check) unrecognized(index int, sentence string, args ...any) {
	c.fault(index, sentence, args...)
	c.faults[len(c.faults)-1].unrecognized = true
}

// flag checks a flag's name, and its form if the flag is known.
func (c *check) flag(index int, given xx) {
	switch kind, sure := c.flagKind(given.name); {
	case kind == absent && sure:
		c.unrecognized(index, "which JDK %d and later do not support, so the JVM does not start: %s", removed[given.name].since, removed[given.name].advice())
	case kind == absent:
		c.doubt(index, "which not every JDK from 17 to 25 supports: if the image's JDK does not, the JVM does not start; remove it for such an image")
	case kind == unknownFlag:
		c.checkUnknownFlag(index, given)
	case kind == ignored:
		c.doubt(index, "which the JVM ignores: remove it")
	case (kind == experimental || kind == diagnostic) && !c.unlocked[kind]:
		c.fault(index, "which is %s: put -XX:+%s before it", lockName[kind], unlocking[kind])
	default:
		if sentence := formFault(knownFlags()[given.name], given); sentence != "" && c.release != AnyRelease {
			c.fault(index, "%s", sentence)
		}
	}
}

var (
	lockName  = map[byte]string{experimental: "experimental", diagnostic: "diagnostic"}
	unlocking = map[byte]string{experimental: "UnlockExperimentalVMOptions", diagnostic: "UnlockDiagnosticVMOptions"}
)

// checkUnknownFlag reports a flag that no JDK has: a typo, or another JVM's flag.
func (c *check) checkUnknownFlag(index int, given xx) {
	if near := nearest(given.name); near != "" {
		c.unrecognized(index, "which the JVM does not recognize: did you mean -XX:%s%s%s%s?", given.sign, near, given.equals, given.value)
		return
	}
	c.doubt(index, "which no JDK from 17 to 25 supports: unless the image's JVM supports it, the JVM does not start; correct it, or remove it")
}

// flagKind returns the kind of a flag in the JVM, and whether that is certain.
func (c *check) flagKind(name string) (kind byte, sure bool) {
	if c.release == AnyRelease {
		return product, true
	}
	if gone, listed := removed[name]; listed && c.release > 0 {
		if c.release >= gone.since {
			return absent, true
		}
		return product, true
	} else if listed && gone.since <= oldest {
		return absent, true
	}
	known, found := knownFlags()[name]
	switch {
	case c.release > 0 && c.release < oldest:
		return product, true
	case !found:
		return unknownFlag, true
	case known.first == known.last, c.release == oldest:
		return known.first, true
	case c.release >= newest:
		return known.last, true
	case c.release == 0 && (known.first == absent || known.last == absent):
		return absent, false
	default:
		return product, false
	}
}

var whole = regexp.MustCompile(`^-?(0[xX][0-9a-fA-F]+|[0-9]+)[kKmMgGtT]?$`)

// formFault returns what is wrong with the form of a flag.
func formFault(known flag, given xx) string {
	switch {
	case known.kind == "bool" && given.sign == "":
		return fmt.Sprintf("which is a switch: write -XX:+%s or -XX:-%s", given.name, given.name)
	case known.kind == "bool" || known.kind == "":
		return ""
	case given.sign != "" || given.equals == "" && known.kind != "text":
		return fmt.Sprintf("which takes a value: write -XX:%s=…", given.name)
	case known.kind == "number" && !whole.MatchString(given.value):
		size := strings.ToLower(strings.TrimSuffix(cmp.Or(repair.Bytes(given.value), given.value), "i"))
		if !whole.MatchString(size) {
			size = "one"
		}
		return "which takes a whole number, with k, m or g for a size: write " + size
	case known.kind == "double":
		if _, err := strconv.ParseFloat(given.value, 64); err != nil {
			return "which takes a number: write one"
		}
	}
	return ""
}

// collectors checks that at most one collector is on, and that the default one is not off.
func (c *check) collectors(options []string, machine Machine) {
	first, firstName := "", ""
	for i, word := range options {
		name, plus := strings.CutPrefix(unquoted(word), "-XX:+")
		collector, picks := collectors[name]
		if !plus || !picks || !c.chosen[name] || collector == first {
			continue
		}
		if first != "" {
			c.fault(i, "a second garbage collector in addition to -XX:+%s: the JVM does not start with two; remove one of them", firstName)
			return
		}
		first, firstName = collector, name
	}
	c.noCollector(options, first, machine)
}

func (c *check) noCollector(options []string, chosen string, machine Machine) {
	if chosen != "" || machine.Cores == 0 || machine.Memory == 0 {
		return
	}
	for i, word := range options {
		name, minus := strings.CutPrefix(unquoted(word), "-XX:-")
		if on, given := c.chosen[name]; minus && given && !on && collectors[name] == choose(machine) {
			c.fault(i, "the garbage collector that the JVM would select: it does not start without one; select another, for example -XX:+UseParallelGC")
			return
		}
	}
}
