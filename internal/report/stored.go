// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report/format"
	"perflab.dev/perflab/internal/report/section"
)

// StoredBytes limits the size of Stored: the API server stores 1 MiB, including metadata and the
// encoding of binary data.
const StoredBytes = 660 << 10

// Keys of a stored report. Gzipped parts can be read with kubectl get … -o jsonpath | base64 -d |
// gunzip.
const (
	KeyMarkdown   = "report.md"
	KeyCSV        = "observations.csv.gz"
	KeyLevels     = "levels.csv.gz"
	KeyHTML       = "report.html.gz"
	KeyConfluence = "report.confluence.xml.gz"
)

// Stored is the report for a ConfigMap: Markdown as text, the rest gzipped. leftOut names the
// unwanted parts and those beyond StoredBytes; the command line writes them from the runs.
func (r *Report) Stored(unwanted ...string) (text map[string]string, binary map[string][]byte, leftOut []string, err error) {
	text, binary = map[string]string{}, map[string][]byte{}
	left := StoredBytes
	for _, part := range r.storedParts() {
		if slices.Contains(unwanted, part.key) {
			leftOut = append(leftOut, part.key)
			continue
		}
		body, err := part.write()
		if err == nil && len(body) > left && part.key == KeyHTML && len(r.Pictures()) > 0 {
			// The page is more important than its notes' pictures.
			body, err = zipped(func() ([]byte, error) { return format.HTML(&r.page, false) })()
		}
		if err != nil {
			return nil, nil, nil, err
		}
		switch {
		case len(body) > left:
			leftOut = append(leftOut, part.key)
			continue
		case part.key == KeyMarkdown:
			text[part.key] = string(body)
		default:
			binary[part.key] = body
		}
		left -= len(body)
	}
	return text, binary, leftOut, nil
}

// storedPart is a key of a stored report.
type storedPart struct {
	key   string
	write func() ([]byte, error)
}

// storedParts are the keys of a stored report: the pages first, because the runs have the numbers
// as well.
func (r *Report) storedParts() []storedPart {
	parts := []storedPart{
		{KeyMarkdown, func() ([]byte, error) { return r.Markdown(""), nil }},
		{KeyHTML, zipped(r.HTML)},
		{KeyConfluence, zipped(func() ([]byte, error) { return r.Confluence(false) })},
		{KeyCSV, zipped(r.CSV)},
	}
	if r.record.HasLevels() {
		parts = append(parts, storedPart{KeyLevels, zipped(r.LevelsCSV)})
	}
	return parts
}

// Object is the report as the ConfigMap of its experiment, without the unwanted keys.
func (r *Report) Object(unwanted ...string) (*corev1.ConfigMap, error) {
	text, binary, leftOut, err := r.Stored(unwanted...)
	if err != nil {
		return nil, err
	}
	experiment := &r.record.Experiment
	stored := &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: section.KindConfigMap},
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       experiment.Namespace,
			Name:            naming.Report(experiment.Name),
			Labels:          naming.Labels(experiment.Name),
			Annotations:     map[string]string{},
			OwnerReferences: []metav1.OwnerReference{naming.Owner(section.KindExperiment, experiment)},
		},
		Data: text, BinaryData: binary,
	}
	if len(leftOut) > 0 {
		stored.Annotations[v1alpha1.AnnotationLeftOut] = strings.Join(leftOut, ",")
	}
	return stored, nil
}

// zipped gives the same bytes for the same page: its gzip header has no name and no time.
func zipped(write func() ([]byte, error)) func() ([]byte, error) {
	return func() ([]byte, error) {
		page, err := write()
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		writer := gzip.NewWriter(&out)
		_, err = writer.Write(page)
		if err := errors.Join(err, writer.Close()); err != nil {
			return nil, fmt.Errorf("compressing the report: %w", err)
		}
		return out.Bytes(), nil
	}
}
