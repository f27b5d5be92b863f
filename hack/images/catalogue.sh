# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The images, and the inputs of each.

# kafka-3.9 replaces kafka if the emulator simulates Strimzi 0.45.2.
KAFKA_IMAGE=kafka
[[ $STRIMZI != 0.45.2 ]] || KAFKA_IMAGE=kafka-3.9
# shellcheck disable=SC2034 # for those who source this
PRODUCT_IMAGES=(operator collector k6 sample emulators "$KAFKA_IMAGE")
SYSTEM_IMAGES=(pause coredns storage metrics-server cloudnative-pg postgresql)
# shellcheck disable=SC2034 # for those who source this
IMAGES=(operator collector k6 sample emulators kafka kafka-3.9 keycloak java "${SYSTEM_IMAGES[@]}")

# image_is_component NAME: its content is a build of hack/cluster/build.sh.
image_is_component() {
  case $1 in
    pause | coredns | storage | metrics-server | cloudnative-pg) return 0 ;;
    *) return 1 ;;
  esac
}

# image_reference NAME: a component's tag changes with its content, so that its users are
# rolled out again.
image_reference() {
  if image_is_component "$1"; then
    echo "localhost/perflab/$1:$(component_version "$1")-$(component_hash "$1")"
  elif [[ $1 == postgresql ]]; then
    echo localhost/perflab/postgresql:15-dev # CloudNativePG reads the major version in the tag
  else
    echo "localhost/perflab/$1:dev"
  fi
}

image_dockerfile() {
  case $1 in
    operator) echo "$ROOT/Dockerfile" ;;
    collector) echo "$ROOT/cmd/collector/Dockerfile" ;;
    k6 | sample) echo "$ROOT/$1/Dockerfile" ;;
    emulators) echo "$ROOT/test/emulators/Dockerfile" ;;
    keycloak) echo "$ROOT/sample/keycloak/Dockerfile" ;;
    kafka) echo "$ROOT/test/emulators/kafka/Dockerfile" ;;
    kafka-3.9) echo "$ROOT/test/emulators/kafka/3.9/Dockerfile" ;;
    java) echo "$ROOT/hack/images/java/Dockerfile" ;;
    *) echo "$ROOT/hack/cluster/$1/Dockerfile" ;;
  esac
}

# image_context NAME: the directory that its COPY lines read from. Inputs that no make
# target has built before are built, or downloaded, here.
image_context() {
  if image_is_component "$1"; then
    component_build "$1"
    return
  fi
  [[ $1 != keycloak ]] || "$ROOT/sample/keycloak/fetch.sh" >&2
  echo "$ROOT"
}

image_wants_base() { grep -Eq '^ARG[[:space:]]+BASE\b' "$1"; }

# copied_paths DOCKERFILE prints the sources of its COPY lines, one a line, patterns
# unexpanded; files of other stages are not inputs.
copied_paths() {
  sed -e ':join' -e '/\\$/{N;s/\\\n//;b join' -e '}' "$1" | awk '
    toupper($1) == "COPY" || toupper($1) == "ADD" {
      if ($0 ~ /--from=/) next
      if ($2 ~ /^\[/) { print "JSON form of COPY" > "/dev/stderr"; exit 1 }
      for (field = 2; field < NF; field++) if ($field !~ /^--/) print $field
    }'
}

# image_hash NAME CONTEXT: changes exactly if the inputs of the image change.
image_hash() {
  local name=$1 context=$2 dockerfile pattern
  dockerfile=$(image_dockerfile "$name")
  {
    image_reference "$name"
    image_builder
    sha256sum <"$dockerfile"
    if image_wants_base "$dockerfile"; then image_base; fi
    copied_paths "$dockerfile" | while read -r pattern; do
      (cd "$context" && context_files "$pattern")
    done
  } | sha256sum | cut -c1-12
}

# context_files PATTERN prints a line for each matching file: mode, content, path.
context_files() {
  # shellcheck disable=SC2086 # the pattern is to be expanded
  compgen -G "$1" >/dev/null || die "\"$1\", which a Dockerfile copies, does not exist: build it first"
  # shellcheck disable=SC2086
  find ${1#/} \( -type f -printf '%m %p\n' -exec sha256sum {} \; \) -o \( -type l -printf '%p %l\n' \) | LC_ALL=C sort
}
