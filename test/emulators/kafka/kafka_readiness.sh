#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Succeeds if this Kafka node has opened its last socket: that of replication, or that of the
# control plane for a node that is only a controller.
port=9091
if grep -q '^process\.roles=controller$' /opt/kafka/custom-config/server.config; then
  port=9090
fi
exec 3<>"/dev/tcp/127.0.0.1/$port"
