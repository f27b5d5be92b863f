// SPDX-License-Identifier: Apache-2.0

package watching

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/view"
)

// maxListed bounds the list of experiments.
const maxListed = 500

// asTable requests only the columns that kubectl prints: a whole experiment may have half a
// megabyte.
const asTable = "application/json;as=Table;v=v1;g=meta.k8s.io"

// Lister lists the experiments of a namespace, or of all namespaces if it is empty.
type Lister struct {
	client    rest.Interface
	namespace string
}

// NewLister returns a lister for a cluster.
func NewLister(config *rest.Config, namespace string) (*Lister, error) {
	own := rest.CopyConfig(config)
	own.APIPath, own.GroupVersion, own.NegotiatedSerializer = "/apis", &v1alpha1.GroupVersion, scheme.Codecs.WithoutConversion()
	client, err := rest.RESTClientFor(own)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return &Lister{client, namespace}, nil
}

// List lists them as kubectl get does.
func (l *Lister) List(ctx context.Context) ([]view.Listed, error) {
	body, err := l.client.Get().Resource("perfexperiments").Namespace(l.namespace).SetHeader("Accept", asTable).Param("limit", fmt.Sprint(maxListed)).Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	var table metav1.Table
	if err := json.Unmarshal(body, &table); err != nil {
		return nil, fmt.Errorf("reading the table: %w", err)
	}
	var listed []view.Listed
	for _, row := range table.Rows {
		var object metav1.PartialObjectMetadata
		if err := json.Unmarshal(row.Object.Raw, &object); err != nil {
			return nil, fmt.Errorf("reading the table: %w", err)
		}
		cells := cellsOf(table.ColumnDefinitions, row.Cells)
		listed = append(listed, view.Listed{
			NamespacedName: types.NamespacedName{Namespace: object.Namespace, Name: object.Name},
			Phase:          cells["Phase"], Progress: cells["Runs"], Verdict: cells["Verdict"], Waiting: cells["Waiting for"],
		})
	}
	return listed, nil
}

// cellsOf returns the cells of a row, by column title.
func cellsOf(columns []metav1.TableColumnDefinition, row []any) map[string]string {
	cells := map[string]string{}
	for i, column := range columns {
		if i < len(row) && row[i] != nil {
			cells[column.Name] = fmt.Sprint(row[i])
		}
	}
	return cells
}
