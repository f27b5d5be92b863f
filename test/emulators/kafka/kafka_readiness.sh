#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tells whether this Kafka node has opened the last of its sockets: the one for
# replication, or that of the control plane where the node is a controller alone.
port=9091
if grep -q '^process\.roles=controller$' /opt/kafka/custom-config/server.config; then
  port=9090
fi
exec 3<>"/dev/tcp/127.0.0.1/$port"
