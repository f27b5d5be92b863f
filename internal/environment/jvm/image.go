// SPDX-License-Identifier: Apache-2.0

package jvm

import (
	"regexp"
	"strconv"
	"strings"
)

// javaName matches JDK names in images and tags, followed by the release.
var javaName = regexp.MustCompile(`(?:jdk|jre|java|temurin|corretto|zulu|liberica|sapmachine)(?:-(?:alpine|slim|headless|runtime|debian|ubuntu|jdk|jre))*[-_:]?(?:1\.)?([0-9]{1,2})(?:[^0-9]|$)`)

// ImageRelease returns the JDK release in an image's name: 21 for eclipse-temurin:21-jre; 0
// if the name has none.
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
