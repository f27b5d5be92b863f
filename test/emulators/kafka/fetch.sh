#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Downloads the jars of Apache Kafka in pom.xml from Maven Central into bin/kafka-libs, from
# where the Dockerfile copies them. Does nothing if the directory is up to date. With
# STRIMZI=0.45.2 it does the same for Kafka 3.9 and ZooKeeper: 3.9/pom.xml,
# bin/kafka-libs-3.9.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
source=$here
libs=$root/bin/kafka-libs
if [[ ${STRIMZI:-} == 0.45.2 ]]; then
  source=$here/3.9
  libs=$root/bin/kafka-libs-3.9
fi
plugin=org.apache.maven.plugins:maven-dependency-plugin:3.8.1

main() {
  local wanted
  wanted=$(sha256sum <"$source/pom.xml")
  if [[ -f $libs/.pom.sha256 && $(<"$libs/.pom.sha256") == "$wanted" ]]; then
    return
  fi
  command -v mvn >/dev/null || { echo "fetch.sh: mvn is missing; install Maven (Debian: apt-get install maven)" >&2; exit 1; }
  rm -rf "$libs.part"
  mvn -q -B -f "$source/pom.xml" "$plugin:copy-dependencies" \
    -DincludeScope=runtime -DoutputDirectory="$libs.part"
  echo "$wanted" >"$libs.part/.pom.sha256"
  rm -rf "$libs"
  mv "$libs.part" "$libs"
}

main "$@"
