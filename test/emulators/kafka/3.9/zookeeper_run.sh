#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs one ZooKeeper node with the configuration that the Strimzi emulator mounts at
# /opt/kafka/custom-config. See also test/emulators/strimzi.
set -euo pipefail

config=/opt/kafka/custom-config
data=$(sed -n 's/^dataDir=//p' "$config/zoo.cfg")

# The nodes of a new ensemble resolve each other's names before the names exist.
dns=(-Dsun.net.inetaddr.negative.ttl=0 -Dsun.net.inetaddr.ttl=5)

gc_log() {
  if [[ ${STRIMZI_KAFKA_GC_LOG_ENABLED:-false} == true ]]; then
    echo '-Xlog:gc*'
  fi
}

mkdir -p "$data"
cp "$config/myid" "$data/myid"
# A variable can hold several options, which the shell splits into words.
# shellcheck disable=SC2046,SC2086
exec java -cp '/opt/kafka/libs/*' ${KAFKA_HEAP_OPTS:-} ${KAFKA_JVM_PERFORMANCE_OPTS:-} ${STRIMZI_JAVA_SYSTEM_PROPERTIES:-} \
  $(gc_log) "${dns[@]}" -XX:+ExitOnOutOfMemoryError -Djava.awt.headless=true \
  "-Dlog4j.configuration=file:$config/log4j.properties" \
  org.apache.zookeeper.server.quorum.QuorumPeerMain "$config/zoo.cfg"
