// SPDX-License-Identifier: Apache-2.0

package load

import (
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
)

// dataFolder is where a load's own data is mounted in the runner.
const dataFolder = "/perflab/data"

// summaryStatistics are what k6's own summary is asked for, in k6's words.
const summaryStatistics = "avg,min,med,max,p(75),p(95),p(99),count"

// scriptSource is where k6-operator finds the load's script.
func scriptSource(load v1alpha1.Load) map[string]any {
	own := load.Script
	switch {
	case load.DataImport != nil:
		return map[string]any{"localFile": "/scripts/data-import.js"}
	case own == nil:
		return map[string]any{"localFile": "/scripts/cico.js"}
	case own.ConfigMap != nil:
		return map[string]any{"configMap": map[string]any{"name": own.ConfigMap.Name, "file": own.ConfigMap.Key}}
	case own.PersistentVolumeClaim != nil:
		return map[string]any{"volumeClaim": map[string]any{
			"name": own.PersistentVolumeClaim.ClaimName, "file": own.PersistentVolumeClaim.File, "readOnly": true,
		}}
	default:
		return map[string]any{"localFile": own.Path}
	}
}

// arguments of k6 run. Thresholds decide nothing here: verdicts do.
func arguments(load v1alpha1.Load) string {
	var list []string
	if load.Script.ResultsOrDefault() == v1alpha1.ResultsHistograms {
		list = []string{"--out", "perflab", "--summary-mode=disabled"}
	}
	list = append(list, "--no-thresholds", "--no-color", "--log-output=stderr")
	if load.Script != nil {
		list = append(list, load.Script.Arguments...)
	}
	return strings.Join(list, " ")
}

// data mounts the load's own data read-only.
func data(load v1alpha1.Load) ([]corev1.Volume, []corev1.VolumeMount) {
	if load.CheckInCheckOut == nil || load.CheckInCheckOut.Data == nil {
		return nil, nil
	}
	const name = "data"
	mount := corev1.VolumeMount{Name: name, MountPath: dataFolder, ReadOnly: true}
	own := load.CheckInCheckOut.Data
	if own.ConfigMap != nil {
		return []corev1.Volume{{Name: name, VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: own.ConfigMap.Name}},
		}}}, []corev1.VolumeMount{mount}
	}
	if own.PersistentVolumeClaim.SubPath != "" {
		mount.SubPath = path.Clean(own.PersistentVolumeClaim.SubPath)
	}
	return []corev1.Volume{{Name: name, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: own.PersistentVolumeClaim.ClaimName, ReadOnly: true},
	}}}, []corev1.VolumeMount{mount}
}
