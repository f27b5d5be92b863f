#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs one Kafka node from what the Strimzi emulator mounts at
# /opt/kafka/custom-config: formats its storage on the first start, then
# becomes the broker. Read together with test/emulators/strimzi.
set -euo pipefail

config=/opt/kafka/custom-config
java=(java -cp '/opt/kafka/libs/*')

# The JVM remembers for long that a name is unknown; the nodes of a new cluster
# look each other up before their names exist, and a restarted one has a new address.
dns=(-Dsun.net.inetaddr.negative.ttl=0 -Dsun.net.inetaddr.ttl=5)

gc_log() {
  if [[ ${STRIMZI_KAFKA_GC_LOG_ENABLED:-false} == true ]]; then
    echo '-Xlog:gc*'
  fi
}

# formatted tells whether a start before this one got through format.
formatted() {
  local dir
  while read -r dir; do
    [[ -f $dir/meta.properties ]] || return 1
  done < <(sed -n 's/^log\.dirs=//p' "$config/server.config" | tr ',' '\n')
}

format() {
  "${java[@]}" -Xmx128m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC \
    "-Dlog4j2.configurationFile=$config/log4j2.properties" \
    kafka.tools.StorageTool format --ignore-formatted \
    --cluster-id="$(<"$config/cluster.id")" \
    --release-version="$(<"$config/metadata.version")" \
    --config="$config/server.config"
}

main() {
  formatted || format
  # Several options in one variable: splitting them into words is meant.
  # shellcheck disable=SC2046,SC2086
  exec "${java[@]}" ${KAFKA_HEAP_OPTS:-} ${KAFKA_JVM_PERFORMANCE_OPTS:-} ${STRIMZI_JAVA_SYSTEM_PROPERTIES:-} \
    $(gc_log) "${dns[@]}" -XX:+ExitOnOutOfMemoryError -Djava.awt.headless=true \
    "-Dlog4j2.configurationFile=$config/log4j2.properties" \
    kafka.Kafka "$config/server.config"
}

main
