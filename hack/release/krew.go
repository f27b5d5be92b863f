// SPDX-License-Identifier: Apache-2.0

package main

import "perflab.dev/perflab/hack/release/internal/product"

// krewPlugin is krew's manifest of a plugin. krew's own module would add a whole client.
type krewPlugin struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Metadata   struct {
		Name string `yaml:"name"`
	} `yaml:"metadata"`
	Spec krewSpec `yaml:"spec"`
}

type krewSpec struct {
	Version          string         `yaml:"version"`
	Homepage         string         `yaml:"homepage"`
	ShortDescription string         `yaml:"shortDescription"`
	Description      string         `yaml:"description"`
	Platforms        []krewPlatform `yaml:"platforms"`
}

type krewPlatform struct {
	Selector struct {
		MatchLabels map[string]string `yaml:"matchLabels"`
	} `yaml:"selector"`
	URI    string `yaml:"uri"`
	Sha256 string `yaml:"sha256"`
	Bin    string `yaml:"bin"`
}

// krewManifest returns a manifest without platforms.
func krewManifest(version string) *krewPlugin {
	manifest := &krewPlugin{APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin"}
	manifest.Metadata.Name = "perflab"
	manifest.Spec = krewSpec{
		Version: version, Homepage: "https://perflab.dev", ShortDescription: "Plan, run and analyze benchmark experiments",
		Description: "Plans PerfLab's benchmark experiments, compares their results and reports on\nthem without a cluster, and runs and follows them in one. In the cluster,\nPerfLab's operator runs them; install it with its chart.\n",
	}
	return manifest
}

func (k *krewPlugin) add(platform product.Platform, uri, sum string) {
	one := krewPlatform{URI: uri, Sha256: sum, Bin: platform.Executable(plugin)}
	one.Selector.MatchLabels = map[string]string{"os": platform.OS, "arch": platform.Arch}
	k.Spec.Platforms = append(k.Spec.Platforms, one)
}
