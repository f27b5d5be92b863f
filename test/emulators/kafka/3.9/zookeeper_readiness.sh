#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tells whether this ZooKeeper node serves: only one that is alone or part of a
# quorum names its mode.
exec 3<>/dev/tcp/127.0.0.1/2181 || exit 1
echo srvr >&3
grep -q '^Mode: ' <&3
