#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs one Kafka node with the configuration that the Strimzi emulator mounts at
# /opt/kafka/custom-config: formats its storage on the first start, unless its metadata is in
# ZooKeeper, then executes the broker. See also test/emulators/strimzi.
set -euo pipefail

config=/opt/kafka/custom-config
java=(java -cp '/opt/kafka/libs/*')

# The JVM caches failed lookups for a long time. The nodes of a new cluster resolve each other's
# names before the names exist, and a restarted node has a new address.
dns=(-Dsun.net.inetaddr.negative.ttl=0 -Dsun.net.inetaddr.ttl=5)

# Kafka 4 reads the second option, Kafka 3 the first.
logging=("-Dlog4j.configuration=file:$config/log4j.properties" "-Dlog4j2.configurationFile=$config/log4j2.properties")

gc_log() {
  if [[ ${STRIMZI_KAFKA_GC_LOG_ENABLED:-false} == true ]]; then
    echo '-Xlog:gc*'
  fi
}

on_zookeeper() { grep -q '^zookeeper\.connect=' "$config/server.config"; }

# formatted succeeds if an earlier start has completed format.
formatted() {
  local dir
  while read -r dir; do
    [[ -f $dir/meta.properties ]] || return 1
  done < <(sed -n 's/^log\.dirs=//p' "$config/server.config" | tr ',' '\n')
}

format() {
  "${java[@]}" -Xmx128m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC \
    "${logging[@]}" kafka.tools.StorageTool format --ignore-formatted \
    --cluster-id="$(<"$config/cluster.id")" \
    --release-version="$(<"$config/metadata.version")" \
    --config="$config/server.config"
}

main() {
  # Each partition keeps files open: raise the limit to the container's maximum.
  ulimit -Sn "$(ulimit -Hn)"
  on_zookeeper || formatted || format
  # A variable can hold several options, which the shell splits into words.
  # shellcheck disable=SC2046,SC2086
  exec "${java[@]}" ${KAFKA_HEAP_OPTS:-} ${KAFKA_JVM_PERFORMANCE_OPTS:-} ${STRIMZI_JAVA_SYSTEM_PROPERTIES:-} \
    $(gc_log) "${dns[@]}" -XX:+ExitOnOutOfMemoryError -Djava.awt.headless=true \
    "${logging[@]}" kafka.Kafka "$config/server.config"
}

main
