// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/measure/collector"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/runs/evidence"
)

const (
	// maxImages bounds the images in a run's status.
	maxImages = 32
	// maxPayloads bounds the digests in a run's status, at the maximum of runners.
	maxPayloads = 600
	// collectorImage is the user of the collector's image.
	collectorImage = "collector"
)

// logDigest is the digest of a pod's results.
type logDigest struct {
	pod *corev1.Pod
	// load of the pod, empty for the collector, and the container that printed.
	load, container string
	sum             string
	// generator is the load generator's name and version.
	generator string
}

// evidence returns the evidence of the run's status, created on first use.
func (s *scope) evidence() *v1alpha1.RunEvidence {
	if s.status().Evidence == nil {
		s.status().Evidence = &v1alpha1.RunEvidence{}
	}
	return s.status().Evidence
}

// recordLog records the digest of a log that this reconcile uses. It replaces an earlier one.
func (s *scope) recordLog(log logDigest) {
	s.recordPayload(v1alpha1.PayloadDigest{Pod: log.pod.Name, Load: log.load, SHA256: log.sum})
	s.recordImage(cmp.Or(log.load, collectorImage), imageID(log.pod, log.container))
	if generatorVersion.MatchString(log.generator) {
		s.evidence().Versions.K6 = log.generator
	}
}

// generatorVersion matches load generators that are safe to quote.
var generatorVersion = regexp.MustCompile(`^[A-Za-z0-9]{1,16} v?[0-9A-Za-z.+-]{1,48}$`)

func (s *scope) recordPayload(read v1alpha1.PayloadDigest) {
	known := s.evidence()
	known.Payloads = slices.DeleteFunc(known.Payloads, func(one v1alpha1.PayloadDigest) bool { return one.Pod == read.Pod })
	if read.SHA256 == "" || len(known.Payloads) == maxPayloads {
		return
	}
	known.Payloads = append(known.Payloads, read)
	slices.SortFunc(known.Payloads, func(a, b v1alpha1.PayloadDigest) int {
		return cmp.Or(cmp.Compare(a.Load, b.Load), cmp.Compare(a.Pod, b.Pod))
	})
}

func (s *scope) recordImage(of, id string) {
	known, image := s.evidence(), v1alpha1.MetImage{Of: of, ImageID: id}
	if id == "" || len(known.Images) == maxImages || slices.Contains(known.Images, image) {
		return
	}
	known.Images = append(known.Images, image)
	slices.SortFunc(known.Images, func(a, b v1alpha1.MetImage) int {
		return cmp.Or(cmp.Compare(a.Of, b.Of), cmp.Compare(a.ImageID, b.ImageID))
	})
}

func imageID(pod *corev1.Pod, container string) string {
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == container {
			return status.ImageID
		}
	}
	return ""
}

// recordDigest records the digest of a ConfigMap that this reconcile has stored, so that status
// and ConfigMap are consistent.
func (s *scope) recordDigest(record *corev1.ConfigMap) error {
	sum, err := evidence.Content(record)
	if err != nil {
		return err
	}
	known := s.evidence()
	known.Kept = slices.DeleteFunc(known.Kept, func(one v1alpha1.KeptDigest) bool { return one.Name == record.Name })
	known.Kept = append(known.Kept, v1alpha1.KeptDigest{Name: record.Name, SHA256: sum})
	slices.SortFunc(known.Kept, func(a, b v1alpha1.KeptDigest) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}

func runnerLog(pod *corev1.Pod, load string, held results.Printed) logDigest {
	return logDigest{pod: pod, load: load, container: contract.RunnerContainer, sum: held.SHA256, generator: held.Generator}
}

func collectorLog(pod *corev1.Pod, sum string) logDigest {
	return logDigest{pod: pod, container: collector.Container, sum: sum}
}
