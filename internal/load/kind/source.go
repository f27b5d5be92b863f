// SPDX-License-Identifier: Apache-2.0

package kind

import "perflab.dev/perflab/api/v1alpha1"

// Source is where a k6 script is; one of them is set.
type Source struct {
	// File in the image.
	File      string
	ConfigMap *v1alpha1.ConfigMapKey
	Volume    *v1alpha1.ScriptVolume
}

// String names the script for a reader.
func (s Source) String() string {
	switch {
	case s.ConfigMap != nil:
		return s.ConfigMap.Key + " of ConfigMap " + s.ConfigMap.Name
	case s.Volume != nil:
		return s.Volume.File + " of volume " + s.Volume.ClaimName
	default:
		return s.File
	}
}

// Script is what a TestRun says of it.
func (s Source) Script() map[string]any {
	switch {
	case s.ConfigMap != nil:
		return map[string]any{"configMap": map[string]any{"name": s.ConfigMap.Name, "file": s.ConfigMap.Key}}
	case s.Volume != nil:
		return map[string]any{"volumeClaim": map[string]any{"name": s.Volume.ClaimName, "file": s.Volume.File, "readOnly": true}}
	default:
		return map[string]any{"localFile": s.File}
	}
}
