// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
)

// put stores an object in etcd as the API server would. It takes a tenth of the API server's
// work, because the API server only receives the object from its watch, as if another API
// server had written it.
func (c *cluster) put(ctx context.Context, object client.Object) error {
	key, value, err := stored(object)
	if err != nil {
		return err
	}
	return c.putBytes(ctx, key, value, nil)
}

// putBytes stores a value in etcd, and reads etcd's answer.
func (c *cluster) putBytes(ctx context.Context, key string, value []byte, answer any) error {
	// The gateway uses base64 for bytes, as Go's JSON does.
	body, err := json.Marshal(map[string][]byte{"key": []byte(key), "value": value})
	if err != nil {
		return err
	}
	return post(ctx, c.etcd()+"/v3/kv/put", string(body), answer)
}

func (c *cluster) etcd() string { return c.environment.ControlPlane.Etcd.URL.String() }

// stored returns an object as etcd stores it: custom resources as JSON, and Kubernetes' own
// objects in protobuf.
func stored(object client.Object) (key string, value []byte, err error) {
	object.SetResourceVersion("")
	plural, kind, encoder := "", v1alpha1.GroupVersion.WithKind(""), json.Marshal
	switch object.(type) {
	case *v1alpha1.PerfExperiment:
		plural, kind.Kind = "perflab.dev/perfexperiments", "PerfExperiment"
	case *v1alpha1.PerfRun:
		plural, kind.Kind = "perflab.dev/perfruns", "PerfRun"
	case *corev1.ConfigMap:
		plural, kind, encoder = "configmaps", corev1.SchemeGroupVersion.WithKind("ConfigMap"), inProtobuf
	default:
		return "", nil, fmt.Errorf("unsupported kind %T", object)
	}
	object.GetObjectKind().SetGroupVersionKind(kind)
	value, err = encoder(object)
	return "/registry/" + plural + "/" + object.GetNamespace() + "/" + object.GetName(), value, err
}

func inProtobuf(object any) ([]byte, error) {
	return runtime.Encode(protobuf.NewSerializer(clientgoscheme.Scheme, clientgoscheme.Scheme), object.(runtime.Object))
}

// gateway is the client of etcd's gateway, with a connection for each parallel writer.
var gateway = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: hands}}

// post sends a request to etcd's gateway.
func post(ctx context.Context, url, body string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := gateway.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		return errors.Join(err, fmt.Errorf("POST %s: %s: %s", url, answer.Status, bytes.TrimSpace(text)))
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(text, into)
}
