# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# etcd, the API server and the controllers.

control_plane_up() {
  etcd_up
  api_server_up
  controllers_up
}

# Only processes in the sandbox reach its loopback, so etcd needs no authentication.
etcd_up() {
  daemon etcd "" "$ETCD/etcd" --name "$NODE" --data-dir "$STATE/etcd" --log-level warn \
    --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
    --listen-peer-urls http://127.0.0.1:2380
}

api_server_up() {
  daemon kube-apiserver "" "$KUBE/kube-apiserver" \
    --etcd-servers=http://127.0.0.1:2379 \
    --advertise-address="$NODE_ADDRESS" --secure-port=6443 \
    --service-cluster-ip-range="$SERVICE_RANGE" \
    --tls-cert-file="$PKI/kube-apiserver.crt" --tls-private-key-file="$PKI/kube-apiserver.key" \
    --client-ca-file="$PKI/ca.crt" \
    --kubelet-client-certificate="$PKI/kube-apiserver-kubelet.crt" --kubelet-client-key="$PKI/kube-apiserver-kubelet.key" \
    --kubelet-preferred-address-types=InternalIP \
    --service-account-issuer=https://kubernetes.default.svc.cluster.local \
    --service-account-key-file="$PKI/service-account.pub" --service-account-signing-key-file="$PKI/service-account.key" \
    --requestheader-client-ca-file="$PKI/front-proxy-ca.crt" --requestheader-allowed-names=front-proxy \
    --requestheader-username-headers=X-Remote-User --requestheader-group-headers=X-Remote-Group \
    --requestheader-extra-headers-prefix=X-Remote-Extra- \
    --proxy-client-cert-file="$PKI/front-proxy.crt" --proxy-client-key-file="$PKI/front-proxy.key" \
    --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --allow-privileged=true

  # The path from the host: its loopback, a socket for both sides, the sandbox.
  daemon api-inside "" /usr/bin/socat "UNIX-LISTEN:$RUN/api.sock,fork,unlink-early,mode=600" "TCP:$NODE_ADDRESS:6443"
  daemon_on_host_network api-outside "" /usr/bin/socat \
    "TCP-LISTEN:$(<"$STATE/port"),bind=127.0.0.1,fork,reuseaddr" "UNIX-CONNECT:$RUN/api.sock"

  daemon_ready etcd 5 true
  daemon_ready kube-apiserver 120 kubectl get --raw /readyz || {
    tail_log "$LOGS/etcd.log" 5
    tail_log "$LOGS/api-outside.log" 5
    return 1
  }
}

controllers_up() {
  daemon kube-controller-manager "$CONFIG/kube-controller-manager.kubeconfig" "$KUBE/kube-controller-manager" \
    --kubeconfig="$CONFIG/kube-controller-manager.kubeconfig" --bind-address=127.0.0.1 \
    --service-account-private-key-file="$PKI/service-account.key" --root-ca-file="$PKI/ca.crt" \
    --cluster-signing-cert-file="$PKI/ca.crt" --cluster-signing-key-file="$PKI/ca.key" \
    --use-service-account-credentials=true --leader-elect=false
  daemon kube-scheduler "$CONFIG/kube-scheduler.kubeconfig" "$KUBE/kube-scheduler" \
    --kubeconfig="$CONFIG/kube-scheduler.kubeconfig" --bind-address=127.0.0.1 --leader-elect=false
}
