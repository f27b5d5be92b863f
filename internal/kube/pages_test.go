// SPDX-License-Identifier: Apache-2.0

package kube_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestPagesListsEachObjectOnce(t *testing.T) {
	c, namespace := cluster(t)
	var want []string
	for n := range 7 {
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("one-", n), Labels: map[string]string{"n": fmt.Sprint(n)}}}
		expect.NoError(t, c.Client.Create(t.Context(), made))
		want = append(want, made.Name)
	}
	var got []string
	kept := map[string]map[string]string{}
	pages := 0
	err := kube.Pages(t.Context(), c.Client, &corev1.ConfigMapList{}, 3, func(page *corev1.ConfigMapList) error {
		pages++
		for i := range page.Items {
			got, kept[page.Items[i].Name] = append(got, page.Items[i].Name), page.Items[i].Labels
		}
		return nil
	}, client.InNamespace(namespace), client.HasLabels{"n"})
	if err != nil || pages != 3 || !slices.Equal(got, want) {
		t.Errorf("%d pages with %v (%v), want 3 with %v", pages, got, err, want)
	}
	// The next page does not overwrite retained parts of this one.
	if kept["one-0"]["n"] != "0" || kept["one-6"]["n"] != "6" {
		t.Errorf("kept %v", kept)
	}
}

func TestPagesEndWithAnError(t *testing.T) {
	c, _ := cluster(t)
	failure := errors.New("enough")
	pages := 0
	err := kube.Pages(t.Context(), c.Client, &corev1.NamespaceList{}, 1, func(*corev1.NamespaceList) error {
		pages++
		return failure
	})
	if !errors.Is(err, failure) || pages != 1 {
		t.Errorf("%d pages, %v", pages, err)
	}
}

func TestPagesStopsEarly(t *testing.T) {
	c, _ := cluster(t)
	pages := 0
	err := kube.Pages(t.Context(), c.Client, &corev1.NamespaceList{}, 1, func(*corev1.NamespaceList) error {
		if pages++; pages == 2 {
			return kube.ErrStop
		}
		return nil
	})
	if err != nil || pages != 2 {
		t.Errorf("%d pages, %v", pages, err)
	}
}
