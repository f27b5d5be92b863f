#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Succeeds if this ZooKeeper node serves clients: only a standalone node or a member of a quorum
# reports its mode.
exec 3<>/dev/tcp/127.0.0.1/2181 || exit 1
echo srvr >&3
grep -q '^Mode: ' <&3
