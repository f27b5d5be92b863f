// SPDX-License-Identifier: Apache-2.0

// Package number parses numbers as users, spreadsheets and other tools write them: with a
// decimal point or a decimal comma, thousands separators and exponents.
package number

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// Errors for invalid and ambiguous numbers.
var (
	ErrSyntax    = errors.New("is not a finite number")
	ErrAmbiguous = errors.New("is ambiguous")
)

// Number is a parsed number.
type Number struct {
	Value float64
	// Decimals is the position of the last digit: 1 for 12.5, -4 for 1.25e6.
	Decimals int
}

// Parse parses a finite number. It returns ErrAmbiguous for one such as 1,234, which has a
// decimal comma or a thousands separator.
func Parse(text string) (Number, error) {
	mantissa, exponent, hasExponent := cutExponent(strings.TrimSpace(text))
	shift, err := strconv.Atoi(exponent)
	if hasExponent && err != nil {
		return Number{}, fmt.Errorf("%q %w", text, ErrSyntax)
	}
	digits, err := plain(mantissa)
	if err != nil {
		return Number{}, fmt.Errorf("%q %w", text, err)
	}
	value, err := strconv.ParseFloat(digits+"e"+strconv.Itoa(shift), 64)
	if err != nil || math.IsInf(value, 0) {
		return Number{}, fmt.Errorf("%q %w", text, ErrSyntax)
	}
	_, decimals, _ := strings.Cut(digits, ".")
	return Number{Value: value, Decimals: len(decimals) - shift}, nil
}

func cutExponent(text string) (mantissa, exponent string, found bool) {
	at := strings.IndexAny(text, "eE")
	if at < 0 {
		return text, "0", false
	}
	return text[:at], text[at+1:], true
}

// plain returns a number with a decimal point and without separators.
func plain(text string) (string, error) {
	sign := ""
	text = strings.Replace(text, "−", "-", 1)
	if text != "" && strings.ContainsRune("+-", rune(text[0])) {
		sign, text = text[:1], text[1:]
	}
	point, err := decimalMark(text)
	if err != nil {
		return "", err
	}
	whole, decimals := text, ""
	if point >= 0 {
		whole, decimals = text[:point], text[point+1:]
	}
	whole, grouped := ungroup(whole)
	if !grouped || !areDigits(whole+decimals) || whole+decimals == "" {
		return "", ErrSyntax
	}
	if point < 0 {
		return sign + whole, nil
	}
	return sign + whole + "." + decimals, nil
}

// decimalMark returns the index of the decimal point or comma: the last of two different
// separators, or the only one; -1 for none. Repeated separators separate thousands.
func decimalMark(text string) (int, error) {
	at := strings.LastIndexAny(text, ".,")
	if at < 0 || strings.Count(text, text[at:at+1]) > 1 {
		return -1, nil
	}
	isAlone := strings.IndexFunc(text[:at], func(letter rune) bool { return !isDigit(letter) }) < 0
	isGroup := len(text)-at-1 == 3 && at >= 1 && at <= 3 && text[0] != '0'
	if text[at] == ',' && isAlone && isGroup {
		return 0, fmt.Errorf("%w: it can be %s or %s; write it with a decimal point and without thousands separators",
			ErrAmbiguous, text[:at]+text[at+1:], text[:at]+"."+text[at+1:])
	}
	return at, nil
}

// ungroup removes thousands separators; false if the groups are invalid.
func ungroup(whole string) (string, bool) {
	at := strings.IndexFunc(whole, isSeparator)
	if at < 0 {
		return whole, true
	}
	separator := []rune(whole[at:])[0]
	groups := strings.Split(whole, string(separator))
	for _, group := range groups[1:] {
		if len(group) != 3 {
			return "", false
		}
	}
	return strings.Join(groups, ""), len(groups[0]) >= 1 && len(groups[0]) <= 3
}

// isSeparator reports whether some locale uses this character as a thousands separator.
func isSeparator(letter rune) bool {
	return strings.ContainsRune(".,'’", letter) || unicode.Is(unicode.Zs, letter)
}

func isDigit(letter rune) bool { return letter >= '0' && letter <= '9' }

func areDigits(text string) bool {
	return strings.IndexFunc(text, func(letter rune) bool { return !isDigit(letter) }) < 0
}
