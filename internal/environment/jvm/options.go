// SPDX-License-Identifier: Apache-2.0

package jvm

import (
	"slices"
	"strconv"
	"strings"
)

// Canonical names of options with several spellings.
const (
	maxHeapSize      = "MaxHeapSize"
	initialHeapSize  = "InitialHeapSize"
	minHeapSize      = "MinHeapSize"
	maxRAMPercentage = "MaxRAMPercentage"
	minRAMPercentage = "MinRAMPercentage"
	// collectorOption is the common name of all options that select a collector: a JVM with two of
	// them does not start.
	collectorOption = "collector"
)

// heapOptions set the maximum heap. The size overrides the others, so setting one removes
// the rest. The fractions are older spellings of the percentages, which newer JVMs reject.
var heapOptions = []string{
	maxHeapSize, maxRAMPercentage, minRAMPercentage, "InitialRAMPercentage",
	"MaxRAMFraction", "MinRAMFraction", "InitialRAMFraction",
}

// aboutHeap are further options that affect the maximum heap.
var aboutHeap = []string{"MaxRAM", "DefaultMaxRAMFraction", "ErgoHeapSizeLimit", "AggressiveHeap", "UseContainerSupport"}

// SetsHeap reports whether an option affects the maximum heap.
func SetsHeap(word string) bool {
	name := optionName(word)
	return slices.Contains(heapOptions, name) && !strings.HasPrefix(name, "Initial") || slices.Contains(aboutHeap, name)
}

// ReadsFile reports whether an option makes the JVM read further options from a file.
func ReadsFile(word string) bool {
	name := optionName(word)
	return strings.HasPrefix(unquoted(word), "@") || name == "Flags" || name == "VMOptionsFile"
}

// OptionSize returns the size that an option sets for a flag; false if it sets none.
func OptionSize(word, flag string) (int64, bool) {
	name, value := split(unquoted(word))
	bytes, err := size(word, value)
	return bytes, name == flag && err == nil
}

// Settings are what Rewrite sets. Zero fields stay unchanged.
type Settings struct {
	// MaxHeap in bytes becomes -Xmx, which overrides MaxRAMPercentage.
	MaxHeap int64
	// MaxRAMPercentage becomes -XX:MaxRAMPercentage.
	MaxRAMPercentage string
	// Metaspace and MaxMetaspace, in bytes, become -XX:MetaspaceSize and
	// -XX:MaxMetaspaceSize.
	Metaspace, MaxMetaspace int64
	// Options are further options, each of which replaces one with the same name.
	Options []string
}

// Rewrite applies the settings to a string of options, such as the value of JAVA_OPTIONS.
// Setting the heap in one way removes every other way, and an -Xms above a new -Xmx,
// because the JVM would not start. Unrelated options stay unchanged, including quotes.
func Rewrite(options string, set Settings) string {
	added := set.words()
	if len(added) == 0 {
		return options
	}
	replaced := map[string]bool{}
	for _, word := range added {
		replaced[optionName(word)] = true
	}
	if replaced[maxHeapSize] || replaced[maxRAMPercentage] {
		for _, name := range heapOptions {
			replaced[name] = true
		}
	}
	kept := slices.DeleteFunc(SplitOptions(options), func(word string) bool {
		return replaced[optionName(word)] || set.exceeds(word)
	})
	return strings.Join(append(kept, added...), " ")
}

// words returns the settings as options, in a fixed order.
func (s Settings) words() []string {
	var words []string
	switch {
	case s.MaxHeap > 0:
		words = append(words, "-Xmx"+Size(s.MaxHeap))
	case s.MaxRAMPercentage != "":
		words = append(words, "-XX:MaxRAMPercentage="+fraction(s.MaxRAMPercentage))
	}
	if s.Metaspace > 0 {
		words = append(words, "-XX:MetaspaceSize="+Size(s.Metaspace))
	}
	if s.MaxMetaspace > 0 {
		words = append(words, "-XX:MaxMetaspaceSize="+Size(s.MaxMetaspace))
	}
	return append(words, s.Options...)
}

// exceeds reports whether an option makes the initial heap larger than the new maximum.
func (s Settings) exceeds(word string) bool {
	name, value := split(unquoted(word))
	if s.MaxHeap == 0 || name != initialHeapSize && name != minHeapSize {
		return false
	}
	initial, err := size(word, value)
	return err == nil && initial > s.MaxHeap
}

// LogInit makes a JVM of JDK 16 and later log its maximum heap at startup.
const LogInit = "-Xlog:gc+init:stdout"

// WithLogInit inserts LogInit before the options, so that their log settings override it.
// It changes nothing if they already enable these lines.
func WithLogInit(options string) string {
	for _, word := range SplitOptions(options) {
		if strings.HasPrefix(unquoted(word), "-Xlog") && strings.Contains(word, "gc+init") {
			return options
		}
	}
	return strings.TrimSpace(LogInit + " " + options)
}

// Size formats bytes exactly as a JVM accepts them: in MiB if possible, else in bytes.
func Size(bytes int64) string {
	if bytes%mebibyte == 0 {
		return strconv.FormatInt(bytes/mebibyte, 10) + "m"
	}
	return strconv.FormatInt(bytes, 10)
}

// fraction formats a percentage with a fraction, which JVMs of all releases accept.
func fraction(share string) string {
	if strings.Contains(share, ".") {
		return share
	}
	return share + ".0"
}

// SplitOptions splits options at spaces outside of quotes, and keeps the quotes.
func SplitOptions(text string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	for _, r := range text {
		switch {
		case quote == 0 && strings.ContainsRune(" \t\r\n", r):
			end()
			continue
		case quote == 0 && (r == '"' || r == '\''):
			quote = r
		case r == quote:
			quote = 0
		}
		word.WriteRune(r)
	}
	end()
	return words
}

var quotes = strings.NewReplacer(`"`, "", "'", "")

func unquoted(word string) string { return quotes.Replace(word) }

// optionName returns what an option sets; options with the same name set the same thing.
func optionName(word string) string {
	name, _ := split(unquoted(word))
	return name
}

// split parses an option into its name and value. An option without a value, or one that
// may be repeated, is its own name.
func split(option string) (name, value string) {
	switch {
	case strings.HasPrefix(option, "-Xmx"):
		return maxHeapSize, option[len("-Xmx"):]
	case strings.HasPrefix(option, "-mx"):
		return maxHeapSize, option[len("-mx"):]
	case strings.HasPrefix(option, "-Xms"):
		return initialHeapSize, option[len("-Xms"):]
	case strings.HasPrefix(option, "-ms"):
		return initialHeapSize, option[len("-ms"):]
	case strings.HasPrefix(option, "-XX:+"), strings.HasPrefix(option, "-XX:-"):
		name = option[len("-XX:+"):]
		if _, picks := collectors[name]; picks && option[len("-XX:")] == '+' {
			name = collectorOption
		}
		return name, ""
	case strings.HasPrefix(option, "-XX:"):
		name, value, _ = strings.Cut(option[len("-XX:"):], "=")
		return name, value
	case strings.HasPrefix(option, "-D"):
		name, value, _ = strings.Cut(option, "=")
		return name, value
	default:
		return option, ""
	}
}
