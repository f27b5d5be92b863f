#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Unpacks the Keycloak of pom.xml from Maven Central into bin/keycloak, from where the
# Dockerfile copies it. Does nothing if the directory is up to date.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
target=$root/bin/keycloak
state=$root/bin/keycloak.pom.sha256
plugin=org.apache.maven.plugins:maven-dependency-plugin:3.8.1

main() {
  local wanted
  wanted=$(sha256sum <"$here/pom.xml")
  if [[ -d $target && -f $state && $(<"$state") == "$wanted" ]]; then
    return
  fi
  command -v mvn >/dev/null || { echo "fetch.sh: mvn is missing; install Maven (Debian: apt-get install maven)" >&2; exit 1; }
  rm -rf "$target" "$target.part"
  mvn -q -B -f "$here/pom.xml" "$plugin:unpack-dependencies" \
    -DincludeScope=runtime -DmarkersDirectory="$target.part/markers" -DoutputDirectory="$target.part"
  # The archive has one folder, named after the version.
  mv "$target.part"/keycloak-* "$target"
  rm -rf "$target.part"
  echo "$wanted" >"$state"
}

main "$@"
