#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Kafka's own topic tool, for debugging a running broker.
exec java -Xmx128m -cp '/opt/kafka/libs/*' org.apache.kafka.tools.TopicCommand "$@"
