// SPDX-License-Identifier: Apache-2.0

package jvm

import (
	"regexp"
	"strconv"
	"strings"
)

// javaName is what images of JDKs, and tags of images with one, are called, with
// the release behind it.
var javaName = regexp.MustCompile(`(?:jdk|jre|java|temurin|corretto|zulu|liberica|sapmachine)(?:-(?:alpine|slim|headless|runtime|debian|ubuntu|jdk|jre))*[-_:]?(?:1\.)?([0-9]{1,2})(?:[^0-9]|$)`)

// ImageRelease is the JDK that an image has by its name: 21 of eclipse-temurin:21-jre.
// It is 0 where the name does not tell.
func ImageRelease(image string) int {
	release := 0
	for _, parts := range javaName.FindAllStringSubmatch(strings.ToLower(image), -1) {
		found, err := strconv.Atoi(parts[1])
		if err != nil || found != 8 && (found < 11 || found > 40) || release != 0 && found != release {
			return 0
		}
		release = found
	}
	return release
}
