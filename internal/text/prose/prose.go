// SPDX-License-Identifier: Apache-2.0

// Package prose formats parts of sentences: counts, durations, lists of names, and messages
// of other programs.
package prose

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
)

// Enumerate lists at most three names: "a, b, c and 4 more".
func Enumerate(names []string) string { return EnumerateFirst(names, 3) }

// EnumerateFirst lists the first names, and the number of the others.
func EnumerateFirst(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// AtMost returns the first texts, and the number of the others with where they are: "4 more under
// Results".
func AtMost(texts []string, most int, where string) []string {
	more := len(texts) - most
	if more <= 0 {
		return texts
	}
	return append(texts[:most:most], strings.TrimSpace(fmt.Sprintf("%d more %s", more, where)))
}

// List joins all names with commas and a conjunction.
func List(names []string, conjunction string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " " + conjunction + " " + names[last]
}

// Counted formats a count: "1 broker", "3 brokers".
func Counted[N int | int32 | int64](number N, noun string) string {
	if number == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", number, noun)
}

// Verb returns the singular or plural form for a count.
func Verb[N int | int32 | int64](number N, one, several string) string {
	if number == 1 {
		return one
	}
	return several
}

// Partly formats a fraction as the subject of a sentence: "2 of 3 modules are", "0 of 1
// node is".
func Partly[N int | int32 | int64](part, all N, noun string) string {
	number := part
	if all == 1 {
		number = 1
	}
	return fmt.Sprintf("%d of %s %s", part, Counted(all, noun), Verb(number, "is", "are"))
}

// Duration formats a duration without redundant zeros, 30m, not 30m0s, and from two days on
// in days and hours: 12 days 5 hours, not 293h6m0s.
func Duration(duration time.Duration) string {
	const day = 24 * time.Hour
	if duration >= 2*day {
		hours := int(duration.Round(time.Hour) / time.Hour)
		text := Counted(hours/24, "day")
		if hours%24 > 0 {
			text += " " + Counted(hours%24, "hour")
		}
		return text
	}
	text := duration.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

var (
	backOff = regexp.MustCompile(`^Back-off pulling image "[^"]*"(: )?`)
	rpc     = regexp.MustCompile(`rpc error: code = \w+ desc = `)
	pull    = regexp.MustCompile(`^(ErrImagePull|ImagePullBackOff): `)
	socket  = regexp.MustCompile(`\S+:\d+->`)
	podName = regexp.MustCompile(`^pods "[^"]*" is forbidden: `)
	podUID  = regexp.MustCompile(` \(pod: "[^"]*", container: [^)]*\)`)
	spaces  = regexp.MustCompile(`\s+`)
)

// Sentence normalizes another program's message for a condition: one line, of bounded
// length, and the same for each attempt.
func Sentence(message string) string {
	const most = 300
	for _, volatile := range []*regexp.Regexp{backOff, pull, rpc, socket, podName, podUID} {
		message = volatile.ReplaceAllString(message, "")
	}
	message = strings.TrimRight(strings.TrimSpace(spaces.ReplaceAllString(message, " ")), ".")
	return Cut(message, most)
}

// Cut truncates a text to at most this many bytes, with an ellipsis, between characters. It
// removes invalid UTF-8.
func Cut(text string, bytes int) string {
	const end = "…"
	switch {
	case len(text) <= bytes:
		return text
	case bytes < len(end):
		return ""
	}
	return strings.ToValidUTF8(text[:bytes-len(end)], "") + end
}

// Ordinal formats a position: "third", "14th".
func Ordinal[N int | int32](position N) string {
	words := []string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}
	if 1 <= position && int(position) <= len(words) {
		return words[position-1]
	}
	suffix := "th"
	if tens := position % 100; tens < 11 || tens > 13 {
		switch position % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", position, suffix)
}

// Printable removes control characters for terminals and text direction, and characters
// that XML does not allow. Newlines and tabs stay.
func Printable(text string) string {
	return strings.Map(func(letter rune) rune {
		if letter != '\n' && letter != '\t' && (unicode.IsControl(letter) || unicode.Is(unicode.Bidi_Control, letter) || letter == '\ufffe' || letter == '\uffff') {
			return unicode.ReplacementChar
		}
		return letter
	}, text)
}
