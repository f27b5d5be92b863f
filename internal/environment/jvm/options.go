// SPDX-License-Identifier: Apache-2.0

package jvm

import (
	"slices"
	"strconv"
	"strings"
)

// Names of options by which different spellings of one thing are known.
const (
	maxHeapSize      = "MaxHeapSize"
	initialHeapSize  = "InitialHeapSize"
	minHeapSize      = "MinHeapSize"
	maxRAMPercentage = "MaxRAMPercentage"
	minRAMPercentage = "MinRAMPercentage"
	// collectorOption stands for every option that picks a collector: a JVM
	// with two of them does not start.
	collectorOption = "collector"
)

// heapOptions say how large the heap may become. Of several, a JVM goes by
// the size, so whoever sets one takes the others away. The fractions are older
// spellings of the percentages, on which newer JVMs refuse to start.
var heapOptions = []string{
	maxHeapSize, maxRAMPercentage, minRAMPercentage, "InitialRAMPercentage",
	"MaxRAMFraction", "MinRAMFraction", "InitialRAMFraction",
}

// aboutHeap are further options on which the largest heap depends.
var aboutHeap = []string{"MaxRAM", "DefaultMaxRAMFraction", "ErgoHeapSizeLimit", "AggressiveHeap", "UseContainerSupport"}

// SetsHeap says whether the largest heap depends on an option.
func SetsHeap(word string) bool {
	name := optionName(word)
	return slices.Contains(heapOptions, name) && !strings.HasPrefix(name, "Initial") || slices.Contains(aboutHeap, name)
}

// ReadsFile says whether an option has the JVM read further ones from a file.
func ReadsFile(word string) bool {
	name := optionName(word)
	return strings.HasPrefix(unquoted(word), "@") || name == "Flags" || name == "VMOptionsFile"
}

// OptionSize is the size that an option gives to a flag; false where it gives none.
func OptionSize(word, flag string) (int64, bool) {
	name, value := split(unquoted(word))
	bytes, err := size(word, value)
	return bytes, name == flag && err == nil
}

// Settings are what Rewrite sets. What is zero stays as it was.
type Settings struct {
	// MaxHeap in bytes becomes -Xmx; with it, MaxRAMPercentage counts for
	// nothing.
	MaxHeap int64
	// MaxRAMPercentage becomes -XX:MaxRAMPercentage.
	MaxRAMPercentage string
	// Metaspace and MaxMetaspace, in bytes, become -XX:MetaspaceSize and
	// -XX:MaxMetaspaceSize.
	Metaspace, MaxMetaspace int64
	// Options are further options, each of which takes the place of one that
	// sets the same thing.
	Options []string
}

// Rewrite sets what the settings say in a text of options, such as the value
// of JAVA_OPTIONS. Setting the heap in one way takes every other way out; an
// -Xms above a new -Xmx goes too, because the JVM would not start. Options that
// have nothing to do with it stay as they are written, quotes included.
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

// words are the settings as options, in a fixed order.
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

// exceeds reports whether an option makes the heap start larger than the new
// maximum.
func (s Settings) exceeds(word string) bool {
	name, value := split(unquoted(word))
	if s.MaxHeap == 0 || name != initialHeapSize && name != minHeapSize {
		return false
	}
	initial, err := size(word, value)
	return err == nil && initial > s.MaxHeap
}

// LogInit is the option that makes a JVM of JDK 16 and later say at its start
// how large its heap may become.
const LogInit = "-Xlog:gc+init:stdout"

// WithLogInit puts LogInit in front of the options, so that how they set logs
// up holds. It changes nothing where they ask for these lines themselves.
func WithLogInit(options string) string {
	for _, word := range SplitOptions(options) {
		if strings.HasPrefix(unquoted(word), "-Xlog") && strings.Contains(word, "gc+init") {
			return options
		}
	}
	return strings.TrimSpace(LogInit + " " + options)
}

// Size writes bytes as a JVM takes them, exactly: in MiB where it is a whole
// number of them, else in bytes.
func Size(bytes int64) string {
	if bytes%mebibyte == 0 {
		return strconv.FormatInt(bytes/mebibyte, 10) + "m"
	}
	return strconv.FormatInt(bytes, 10)
}

// fraction writes a percentage as JVMs of every age take it: with a fraction.
func fraction(share string) string {
	if strings.Contains(share, ".") {
		return share
	}
	return share + ".0"
}

// SplitOptions cuts a text of options at spaces that are not in quotes. Quotes stay
// where they are.
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

// optionName is what an option sets; two options of one name set the same thing.
func optionName(word string) string {
	name, _ := split(unquoted(word))
	return name
}

// split takes an option apart into what it sets and to what. An option that
// stands for itself, or may be given several times, is its own name.
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
