// SPDX-License-Identifier: Apache-2.0

package k6operator

import (
	"errors"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"

	k6v1alpha1 "perflab.dev/perflab/test/emulators/k6operator/api/v1alpha1"
)

const (
	scriptVolume    = "k6-test-volume"
	scriptDirectory = "/test/"
	scriptDefault   = "test.js"
)

// script is the location of the script in a Pod.
type script struct {
	Directory string
	File      string
	// Source is the volume with the script, or nil if the script is in the image.
	Source *corev1.VolumeSource
	// ReadOnly applies to the mount of Source.
	ReadOnly bool
}

func (s script) path() string  { return s.Directory + s.File }
func (s script) isLocal() bool { return s.Source == nil }

var errNoScript = errors.New("script definition should contain one of: ConfigMap, VolumeClaim, LocalFile")

// findScript returns the script: the volume claim first, then the ConfigMap, then the local file.
func findScript(spec k6v1alpha1.Script) (script, error) {
	switch {
	case spec.VolumeClaim.Name != "":
		return claimedScript(spec.VolumeClaim), nil
	case spec.ConfigMap.Name != "":
		return script{
			Directory: scriptDirectory,
			File:      orDefault(spec.ConfigMap.File, scriptDefault),
			ReadOnly:  true,
			Source: &corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: spec.ConfigMap.Name},
			}},
		}, nil
	case spec.LocalFile != "":
		directory, file := path.Split(spec.LocalFile)
		return script{Directory: directory, File: file}, nil
	}
	return script{}, errNoScript
}

// claimedScript mounts the claim at /test, or in the directory of an absolute file name.
func claimedScript(claim k6v1alpha1.VolumeClaimScript) script {
	found := script{
		Directory: scriptDirectory,
		File:      orDefault(claim.File, scriptDefault),
		ReadOnly:  claim.ReadOnly,
		Source: &corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{
			ClaimName: claim.Name,
		}},
	}
	if strings.HasPrefix(claim.File, "/") {
		found.Directory, found.File = path.Split(claim.File)
	}
	return found
}

func (s script) volumes() []corev1.Volume {
	if s.isLocal() {
		return nil
	}
	return []corev1.Volume{{Name: scriptVolume, VolumeSource: *s.Source}}
}

func (s script) mounts() []corev1.VolumeMount {
	if s.isLocal() {
		return nil
	}
	at := s.Directory
	if s.Source.ConfigMap != nil {
		at = strings.TrimSuffix(scriptDirectory, "/")
	}
	return []corev1.VolumeMount{{Name: scriptVolume, MountPath: at, ReadOnly: s.ReadOnly}}
}

func orDefault(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}
