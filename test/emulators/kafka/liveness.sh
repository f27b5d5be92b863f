#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Succeeds if a JVM runs in this container.
for exe in /proc/[0-9]*/exe; do
  if [[ $(readlink "$exe") == */java ]]; then
    exit 0
  fi
done
exit 1
