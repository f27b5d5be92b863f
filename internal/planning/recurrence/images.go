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
	// maxContainers bounds what is remembered of a workload.
	maxContainers = 16
	// maxImage bounds an image's name. A registry takes no longer one.
	maxImage = 512
)

// Workload is what was seen of a workload of spec.onImageChange.
type Workload struct {
	Source v1alpha1.ImageSource
	// Images of its containers.
	Images []v1alpha1.SeenImage
	// Waiting is what its images are not looked at for as yet, Missing what a person has
	// to mend before they can be; both empty: it has rolled out.
	Waiting, Missing string
}

// IsSettled says that its images are those that run.
func (w Workload) IsSettled() bool { return w.Waiting == "" && w.Missing == "" }

// ObserveWorkload at a workload; nil: it is not there.
func ObserveWorkload(source v1alpha1.ImageSource, object *unstructured.Unstructured) Workload {
	seen, title := Workload{Source: source}, fmt.Sprintf("%s %q", source.Kind, source.Name)
	if object == nil {
		seen.Missing = fmt.Sprintf("there is no %s in the namespace: make it, or correct onImageChange", title)
		return seen
	}
	if borrower := object.GetAnnotations()[v1alpha1.AnnotationBorrowedBy]; borrower != "" {
		// Its images are those of an arm.
		seen.Waiting = fmt.Sprintf("%s is borrowed by experiment %s", title, borrower)
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

// containerImages are the images of a workload's containers that count, or why there are none.
func containerImages(source v1alpha1.ImageSource, object *unstructured.Unstructured) (images []v1alpha1.SeenImage, missing string) {
	title := fmt.Sprintf("%s %q", source.Kind, source.Name)
	template := corev1.PodTemplateSpec{}
	held, _, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "template")
	fields, _ := held.(map[string]any)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &template); err != nil {
		return nil, fmt.Sprintf("the pods of %s can't be read", title)
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
		return nil, fmt.Sprintf("%s has more than %d containers: name those that count in onImageChange", title, maxContainers)
	}
	return images, ""
}

// among are the images of the workload among those remembered.
func (w Workload) among(remembered []v1alpha1.SeenImage) []v1alpha1.SeenImage {
	return slices.DeleteFunc(slices.Clone(remembered), func(image v1alpha1.SeenImage) bool {
		return image.Kind != w.Source.Kind || image.Name != w.Source.Name || w.Source.Container != "" && image.Container != w.Source.Container
	})
}

// find the image of the same container; nil: there is none.
func find(images []v1alpha1.SeenImage, wanted v1alpha1.SeenImage) *v1alpha1.SeenImage {
	at := slices.IndexFunc(images, func(image v1alpha1.SeenImage) bool {
		return image.Kind == wanted.Kind && image.Name == wanted.Name && image.Container == wanted.Container
	})
	if at < 0 {
		return nil
	}
	return &images[at]
}

// identity is what of an image's name tells what runs: its digest, where it has one,
// whatever tag stands beside it.
func identity(image string) string {
	repository, _, digest := split(image)
	if digest == "" {
		return image
	}
	return repository + "@" + digest
}

// split an image's name.
func split(image string) (repository, tag, digest string) {
	repository, digest, _ = strings.Cut(image, "@")
	if colon := strings.LastIndex(repository, ":"); colon > strings.LastIndex(repository, "/") {
		repository, tag = repository[:colon], repository[colon+1:]
	}
	return repository, tag, digest
}

// shortDigest is how much of a digest people read.
const shortDigest = 12

// tags of images, each once; of one without a tag the beginning of its digest.
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
