// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"perflab.dev/perflab/test/emulators/strimzi/api"
)

// Names of the listeners that nodes use internally.
const (
	listenerControlPlane = "CONTROLPLANE-9090"
	listenerReplication  = "REPLICATION-9091"
)

// ownedPrefixes are the settings that Strimzi sets itself. It drops a user's value
// without an error.
var ownedPrefixes = []string{
	"listeners", "advertised.", "broker.", "listener.", "host.name", "port",
	"inter.broker.listener.name", "sasl.", "ssl.", "security.", "password.",
	"log.dir", "metadata.log.dir", "authorizer.", "super.user",
	"node.id", "process.roles", "controller.", "zookeeper.",
}

// allowedSettings are exceptions to ownedPrefixes.
var allowedSettings = []string{
	"broker.session.timeout.ms", "broker.heartbeat.interval.ms",
	"controller.quorum.election.backoff.max.ms", "controller.quorum.election.timeout.ms",
	"controller.quorum.fetch.timeout.ms", "sasl.server.max.receive.size",
	"ssl.cipher.suites", "ssl.protocol", "ssl.enabled.protocols",
	"zookeeper.connection.timeout.ms",
}

// settings renders the server.properties of one node: the operator's own
// settings first, then the user's in key order.
func settings(kafka *api.Kafka, nodes []node, n node) (string, error) {
	user, err := properties(kafka.Spec.Kafka.Config)
	if err != nil {
		return "", fmt.Errorf("reading spec.kafka.config: %w", err)
	}
	var out strings.Builder
	for _, line := range ownSettings(kafka, nodes, n) {
		fmt.Fprintf(&out, "%s=%s\n", line[0], line[1])
	}
	for _, key := range slices.Sorted(maps.Keys(user)) {
		if !isOwned(key) {
			fmt.Fprintf(&out, "%s=%s\n", key, user[key])
		}
	}
	return out.String(), nil
}

func ownSettings(kafka *api.Kafka, nodes []node, n node) [][2]string {
	if n.ZooKeeper != "" {
		return append([][2]string{
			{"broker.id", fmt.Sprint(n.ID)},
			{"zookeeper.connect", n.ZooKeeper},
			{"control.plane.listener.name", listenerControlPlane},
			{"inter.broker.listener.name", listenerReplication},
		}, addressSettings(kafka, n)...)
	}
	own := append([][2]string{
		{"node.id", fmt.Sprint(n.ID)},
		{"process.roles", strings.Join(nodeRoles(n), ",")},
		{"controller.listener.names", listenerControlPlane},
		{"controller.quorum.voters", voters(kafka, nodes)},
	}, addressSettings(kafka, n)...)
	own = append(own, [2]string{"metadata.log.dir", metadataDir(n)})
	if n.isBroker() {
		own = append(own, [2]string{"inter.broker.listener.name", listenerReplication})
	}
	return own
}

// addressSettings returns the addresses of a node and its log directories.
func addressSettings(kafka *api.Kafka, n node) [][2]string {
	listeners := nodeListeners(kafka, n)
	return [][2]string{
		{"listener.security.protocol.map", protocolMap(kafka)},
		{"listeners", joinText(listeners, func(l listener) string { return fmt.Sprintf("%s://0.0.0.0:%d", l.Name, l.Port) })},
		{"advertised.listeners", joinText(listeners, func(l listener) string {
			return fmt.Sprintf("%s://%s:%d", l.Name, advertisedHost(kafka, n), l.Port)
		})},
		{"log.dirs", strings.Join(logDirs(n), ",")},
	}
}

// listener is one socket of a node, with Kafka's name for it.
type listener struct {
	Name string
	Port int32
}

// nodeListeners lists the sockets of one node: controllers have the control plane,
// brokers have replication and the user's. On ZooKeeper any broker can become the
// controller, so all have both.
func nodeListeners(kafka *api.Kafka, n node) []listener {
	var all []listener
	if n.hasControlPlane() {
		all = append(all, listener{listenerControlPlane, portControlPlane})
	}
	if !n.isBroker() {
		return all
	}
	all = append(all, listener{listenerReplication, portReplication})
	return append(all, clientListeners(kafka)...)
}

func clientListeners(kafka *api.Kafka) []listener {
	var all []listener
	for _, l := range kafka.Spec.Kafka.Listeners {
		all = append(all, listener{fmt.Sprintf("%s-%d", strings.ToUpper(l.Name), l.Port), l.Port})
	}
	return all
}

func protocolMap(kafka *api.Kafka) string {
	all := append([]listener{
		{listenerControlPlane, portControlPlane},
		{listenerReplication, portReplication},
	}, clientListeners(kafka)...)
	return joinText(all, func(l listener) string { return l.Name + ":PLAINTEXT" })
}

func voters(kafka *api.Kafka, nodes []node) string {
	return joinText(controllers(nodes), func(n node) string {
		return fmt.Sprintf("%d@%s.cluster.local:%d", n.ID, advertisedHost(kafka, n), portControlPlane)
	})
}

func nodeRoles(n node) []string {
	var roles []string
	if n.isBroker() {
		roles = append(roles, api.RoleBroker)
	}
	if n.isController() {
		roles = append(roles, api.RoleController)
	}
	return roles
}

// advertisedHost returns the name of one node in the headless Service.
func advertisedHost(kafka *api.Kafka, n node) string {
	return fmt.Sprintf("%s.%s.%s.svc", n.podName(), nodesServiceName(kafka.Name, n.component()), kafka.Namespace)
}

func isOwned(key string) bool {
	if slices.Contains(allowedSettings, key) {
		return false
	}
	return slices.ContainsFunc(ownedPrefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

// properties converts configuration from YAML to Kafka's text: strings are kept, lists
// are joined by commas, null is left out.
func properties(config api.Config) (map[string]string, error) {
	all := make(map[string]string, len(config))
	for key, raw := range config {
		var value any
		if err := json.Unmarshal(raw.Raw, &value); err != nil {
			return nil, fmt.Errorf("value of %q: %w", key, err)
		}
		switch v := value.(type) {
		case nil:
		case string:
			all[key] = v
		case []any:
			all[key] = joinText(v, func(item any) string { return fmt.Sprint(item) })
		default:
			// Numbers and booleans keep JSON's spelling, so that large integers stay integers.
			all[key] = string(raw.Raw)
		}
	}
	return all, nil
}

func joinText[T any](items []T, text func(T) string) string {
	parts := make([]string, len(items))
	for i, item := range items {
		parts[i] = text(item)
	}
	return strings.Join(parts, ",")
}
