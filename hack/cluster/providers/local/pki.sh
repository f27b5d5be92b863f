# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The cluster's certificates and the kubeconfigs with them.

PKI_DAYS=3650

# pki_ensure creates everything once, in a temporary directory that is then renamed, so that it
# is complete or absent.
pki_ensure() {
  [[ -d $PKI ]] || pki_make
  [[ -s $STATE/port ]] || port_choose 20000 >"$STATE/port"
  kubeconfig_write "$KUBECONFIG_FILE" "https://127.0.0.1:$(<"$STATE/port")" admin
  local name
  for name in kube-controller-manager kube-scheduler kubelet kube-proxy; do
    kubeconfig_write "$CONFIG/$name.kubeconfig" "https://$NODE_ADDRESS:6443" "$name"
  done
}

pki_make() {
  local parts=$PKI.partial
  rm -rf "$parts"
  install -d -m 0700 "$parts"
  pki_authority "$parts" ca
  pki_authority "$parts" front-proxy-ca
  pki_certificate "$parts" ca kube-apiserver "/CN=kube-apiserver" serverAuth \
    "DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local,DNS:localhost,IP:127.0.0.1,IP:$API_SERVICE_ADDRESS,IP:$NODE_ADDRESS"
  pki_certificate "$parts" ca kube-apiserver-kubelet "/O=system:masters/CN=kube-apiserver-kubelet-client" clientAuth
  pki_certificate "$parts" ca admin "/O=system:masters/CN=admin" clientAuth
  pki_certificate "$parts" ca kube-controller-manager "/CN=system:kube-controller-manager" clientAuth
  pki_certificate "$parts" ca kube-scheduler "/CN=system:kube-scheduler" clientAuth
  pki_certificate "$parts" ca kube-proxy "/CN=system:kube-proxy" clientAuth
  pki_certificate "$parts" ca kubelet "/O=system:nodes/CN=system:node:$NODE" clientAuth
  pki_certificate "$parts" front-proxy-ca front-proxy "/CN=front-proxy" clientAuth
  openssl genrsa -out "$parts/service-account.key" 2048 2>/dev/null
  openssl rsa -in "$parts/service-account.key" -pubout -out "$parts/service-account.pub" 2>/dev/null
  mv "$parts" "$PKI"
}

pki_authority() {
  local directory=$1 name=$2
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days "$PKI_DAYS" -subj "/CN=$name" \
    -addext "keyUsage=critical,keyCertSign,cRLSign,digitalSignature" \
    -keyout "$directory/$name.key" -out "$directory/$name.crt" 2>/dev/null
}

# pki_certificate DIRECTORY AUTHORITY NAME SUBJECT USAGE [ALTERNATIVE_NAMES]
pki_certificate() {
  local directory=$1 authority=$2 name=$3 subject=$4 usage=$5 alternatives=${6:-}
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "$subject" \
    -keyout "$directory/$name.key" -out "$directory/$name.csr" 2>/dev/null
  {
    echo "keyUsage=critical,digitalSignature"
    echo "extendedKeyUsage=$usage"
    [[ -z $alternatives ]] || echo "subjectAltName=$alternatives"
  } >"$directory/$name.ext"
  openssl x509 -req -in "$directory/$name.csr" -CA "$directory/$authority.crt" -CAkey "$directory/$authority.key" \
    -CAcreateserial -days "$PKI_DAYS" -extfile "$directory/$name.ext" -out "$directory/$name.crt" 2>/dev/null
  rm "$directory/$name.csr" "$directory/$name.ext"
}

# kubeconfig_write FILE SERVER IDENTITY writes a self-contained kubeconfig.
kubeconfig_write() {
  local file=$1 server=$2 identity=$3
  mkdir -p "$(dirname "$file")"
  (umask 077 && cat >"$file.partial") <<EOF
apiVersion: v1
kind: Config
clusters:
- name: $CLUSTER
  cluster:
    server: $server
    certificate-authority-data: $(base64 -w0 "$PKI/ca.crt")
users:
- name: $identity
  user:
    client-certificate-data: $(base64 -w0 "$PKI/$identity.crt")
    client-key-data: $(base64 -w0 "$PKI/$identity.key")
contexts:
- name: $CLUSTER
  context: {cluster: $CLUSTER, user: $identity}
current-context: $CLUSTER
EOF
  mv "$file.partial" "$file"
}

# port_choose BASE prints a free port of the host from BASE on. The search starts at a number
# that depends on the cluster's name, so that a cluster tends to keep its port.
port_choose() {
  local port sum
  sum=$(cksum <<<"$CLUSTER")
  port=$(($1 + ${sum%% *} % 10000))
  while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done
  echo "$port"
}
