# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# An image registry that runs as long as the cluster does.
#
# It has the same name on the host and in the sandbox, and both reach it on their own loopback:
# registry clients use plain HTTP for localhost.

provider_registry() { with_lock "cluster-$CLUSTER" local_registry; }

local_registry() {
  local program port
  program=$(component_build registry)/registry
  port=$(registry_port)
  mkdir -p "$STATE/registry"
  registry_config "$port" >"$CONFIG/registry.yaml"
  daemon registry "$CONFIG/registry.yaml" "$program" serve "$CONFIG/registry.yaml"
  daemon registry-inside "" /usr/bin/socat "UNIX-LISTEN:$RUN/registry.sock,fork,unlink-early,mode=600" "TCP:127.0.0.1:$port"
  daemon_on_host_network registry-outside "" /usr/bin/socat \
    "TCP-LISTEN:$port,bind=127.0.0.1,fork,reuseaddr" "UNIX-CONNECT:$RUN/registry.sock"
  daemon_ready registry 30 registry_answers "$port"
  echo "localhost:$port"
}

registry_port() {
  [[ -s $STATE/registry.port ]] || port_choose 30000 >"$STATE/registry.port"
  cat "$STATE/registry.port"
}

registry_config() {
  cat <<EOF
version: 0.1
log: {level: warn}
storage:
  filesystem: {rootdirectory: $STATE/registry}
http: {addr: "127.0.0.1:$1"}
EOF
}

# registry_answers PORT asks for its API from the host, by all forwarders.
registry_answers() (
  exec 3<>"/dev/tcp/127.0.0.1/$1"
  printf 'GET /v2/ HTTP/1.0\r\n\r\n' >&3
  read -r line <&3
  [[ $line == HTTP/*" 200 "* ]]
)
