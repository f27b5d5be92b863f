// SPDX-License-Identifier: Apache-2.0

package load

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
)

const (
	// maxScriptBytes bounds the recorded script and its files.
	maxScriptBytes = 256 << 10
	// maxScriptFiles bounds the list of files. The digest of the last entry covers the
	// rest.
	maxScriptFiles = 64
)

// NewScriptStatus returns the status of a script's ConfigMap: the digest of the script, and
// those of the other files, which it may import.
func NewScriptStatus(key string, files map[string]string) *v1alpha1.ScriptStatus {
	status := &v1alpha1.ScriptStatus{SHA256: digest(files[key])}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if name == key {
			continue
		}
		if len(status.Files) == maxScriptFiles {
			last := &status.Files[maxScriptFiles-1]
			last.SHA256 = digest(last.SHA256 + name + digest(files[name]))
			continue
		}
		status.Files = append(status.Files, v1alpha1.ScriptFile{Name: name, SHA256: digest(files[name])})
	}
	return status
}

// ScriptTexts returns the recorded files of a script's ConfigMap: the script first, then
// others up to the limit. It also returns the names of the rest.
func ScriptTexts(load, key string, files map[string]string) (texts map[string]string, leftOut []string) {
	texts = map[string]string{}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(name string) bool { return name == key })
	left := maxScriptBytes
	for _, name := range append([]string{key}, names...) {
		if len(files[name]) > left {
			leftOut = append(leftOut, load+"."+name)
			continue
		}
		left -= len(files[name])
		texts[load+"."+name] = files[name]
	}
	return texts, leftOut
}

// ScriptChanged returns the changed files of a script; empty if there are none.
func ScriptChanged(key string, before, now *v1alpha1.ScriptStatus) string {
	var changed []string
	then, today := before.Digests(key), now.Digests(key)
	for _, name := range slices.Sorted(maps.Keys(then)) {
		switch digest, found := today[name]; {
		case !found:
			changed = append(changed, name+" is gone")
		case digest != then[name]:
			changed = append(changed, fmt.Sprintf("%s has sha256 %s instead of %s", name, digest[:12], then[name][:12]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(today)) {
		if _, found := then[name]; !found {
			changed = append(changed, name+" is new")
		}
	}
	return strings.Join(changed, ", ")
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
