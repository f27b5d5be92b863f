// SPDX-License-Identifier: Apache-2.0

package cache_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/internal/testing/apiserver"
)

var server = &apiserver.Server{}

func TestMain(m *testing.M) { apiserver.Main(m) }

var configMap = corev1.SchemeGroupVersion.WithKind("ConfigMap")
