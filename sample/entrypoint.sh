#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# JAVA_OPTIONS must be split into words; exec lets the JVM get the kubelet's signals.
set -eu
# shellcheck disable=SC2086
exec java -Xshare:auto -XX:SharedArchiveFile=/app/sample.jsa -XX:+ExitOnOutOfMemoryError \
  ${JAVA_OPTIONS:-} -jar /app/sample.jar "$@"
