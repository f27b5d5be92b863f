// SPDX-License-Identifier: Apache-2.0

package recurrence

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
)

const (
	// maxContainers bounds the recorded containers of a workload.
	maxContainers = 16
	// maxImage bounds an image's name. Registries accept no longer name.
	maxImage = 512
)

// Workload is the observed state of a workload of spec.onImageChange.
type Workload struct {
	Source v1alpha1.ImageSource
	// Images of its containers.
	Images []v1alpha1.SeenImage
	// Waiting is why its images are not read yet, Missing what a user has to fix first.
	// Both are empty if it has rolled out.
	Waiting, Missing string
}

// IsSettled reports whether its images are running.
func (w Workload) IsSettled() bool { return w.Waiting == "" && w.Missing == "" }

// ObserveWorkload reads a workload, which is nil if it does not exist.
func ObserveWorkload(source v1alpha1.ImageSource, object *unstructured.Unstructured) Workload {
	seen, title := Workload{Source: source}, fmt.Sprintf("%s %q", source.Kind, source.Name)
	if object == nil {
		seen.Missing = fmt.Sprintf("there is no %s in the namespace: create it, or correct onImageChange", title)
		return seen
	}
	if borrower := object.GetAnnotations()[v1alpha1.AnnotationBorrowedBy]; borrower != "" {
		// An experiment has changed its images.
		seen.Waiting = fmt.Sprintf("experiment %s has adopted %s", borrower, title)
		return seen
	}
	if seen.Images, seen.Missing = containerImages(source, object); seen.Missing != "" {
		return seen
	}
	rollout := environment.Rollout{}
	if rollout.ReadStatus(object); !rollout.Settled {
		seen.Waiting = title + " has not rolled out"
	}
	return seen
}

// containerImages returns the images of the declared containers, or why there are none.
func containerImages(source v1alpha1.ImageSource, object *unstructured.Unstructured) (images []v1alpha1.SeenImage, missing string) {
	title := fmt.Sprintf("%s %q", source.Kind, source.Name)
	template := corev1.PodTemplateSpec{}
	held, _, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "template")
	fields, _ := held.(map[string]any)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &template); err != nil {
		return nil, fmt.Sprintf("the pod template of %s can't be read", title)
	}
	for _, container := range template.Spec.Containers {
		if source.Container != "" && container.Name != source.Container {
			continue
		}
		if len(container.Image) > maxImage {
			return nil, fmt.Sprintf("an image of %s has a name of more than %d characters", title, maxImage)
		}
		images = append(images, v1alpha1.SeenImage{Kind: source.Kind, Name: source.Name, Container: container.Name, Image: container.Image})
	}
	switch {
	case len(images) == 0:
		return nil, fmt.Sprintf("%s has no container %q: correct onImageChange", title, source.Container)
	case len(images) > maxContainers:
		return nil, fmt.Sprintf("%s has more than %d containers: name the relevant ones in onImageChange", title, maxContainers)
	}
	return images, ""
}

// among returns the recorded images of this workload.
func (w Workload) among(remembered []v1alpha1.SeenImage) []v1alpha1.SeenImage {
	return slices.DeleteFunc(slices.Clone(remembered), func(image v1alpha1.SeenImage) bool {
		return image.Kind != w.Source.Kind || image.Name != w.Source.Name || w.Source.Container != "" && image.Container != w.Source.Container
	})
}

// find returns the image of the same container; nil if there is none.
func find(images []v1alpha1.SeenImage, wanted v1alpha1.SeenImage) *v1alpha1.SeenImage {
	at := slices.IndexFunc(images, func(image v1alpha1.SeenImage) bool {
		return image.Kind == wanted.Kind && image.Name == wanted.Name && image.Container == wanted.Container
	})
	if at < 0 {
		return nil
	}
	return &images[at]
}

// identity returns the part of an image's name that identifies its content: the digest if
// it has one, whatever its tag.
func identity(image string) string {
	repository, _, digest := split(image)
	if digest == "" {
		return image
	}
	return repository + "@" + digest
}

// split parses an image's name.
func split(image string) (repository, tag, digest string) {
	repository, digest, _ = strings.Cut(image, "@")
	if colon := strings.LastIndex(repository, ":"); colon > strings.LastIndex(repository, "/") {
		repository, tag = repository[:colon], repository[colon+1:]
	}
	return repository, tag, digest
}

// shortDigest is the number of a digest's characters in messages.
const shortDigest = 12

// tags returns the distinct tags of images, or the short digest of an image without a tag.
func tags(images []v1alpha1.SeenImage) string {
	var found []string
	for _, image := range images {
		_, tag, digest := split(image.Image)
		if tag == "" {
			_, hexadecimal, _ := strings.Cut(digest, ":")
			tag = hexadecimal[:min(len(hexadecimal), shortDigest)]
		}
		if tag == "" {
			tag = "latest"
		}
		if !slices.Contains(found, tag) {
			found = append(found, tag)
		}
	}
	return strings.Join(found, ", ")
}
