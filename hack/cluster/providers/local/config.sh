# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The configuration files of containerd, the pod network and the node agents.

# Limits of a root that may not lower an OOM score (restrict_oom_score_adj here,
# KubeletInUserNamespace for the kubelet).
containerd_config() {
  cat <<EOF
version = 2
root = "$STATE/containerd"
state = "/run/containerd"
[grpc]
  address = "$RUN/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$(image_reference pause)"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$CONFIG/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.internal.v1.opt"]
  path = "$STATE/containerd-opt"
EOF
}

pod_network_config() {
  cat <<EOF
{
  "cniVersion": "0.4.0",
  "name": "pods",
  "plugins": [
    {
      "type": "bridge", "bridge": "cni0",
      "isGateway": true, "ipMasq": true, "hairpinMode": true,
      "ipam": {"type": "host-local", "ranges": [[{"subnet": "$POD_RANGE"}]], "routes": [{"dst": "0.0.0.0/0"}]}
    },
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
EOF
}

kubelet_config() {
  cat <<EOF
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: $PKI/ca.crt}
authorization: {mode: Webhook}
containerRuntimeEndpoint: unix://$RUN/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: $CGROUP
failCgroupV1: false
failSwapOn: false
featureGates: {KubeletInUserNamespace: true}
clusterDNS: [$DNS_ADDRESS]
clusterDomain: cluster.local
resolvConf: $CONFIG/resolv.conf
podLogsDir: /var/log/pods
volumePluginDir: $STATE/volume-plugins
# Without a registry, a removed image can't be pulled again.
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%}
EOF
}

kube_proxy_config() {
  cat <<EOF
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
clusterCIDR: $POD_RANGE
hostnameOverride: $NODE
clientConnection: {kubeconfig: $CONFIG/kube-proxy.kubeconfig}
# These are settings of the whole machine.
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
EOF
}
