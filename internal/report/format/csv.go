// SPDX-License-Identifier: Apache-2.0

package format

import (
	"bytes"
	"encoding/csv"
	"fmt"
)

// CSV writes rows.
func CSV(rows [][]string) ([]byte, error) {
	var out bytes.Buffer
	if err := csv.NewWriter(&out).WriteAll(rows); err != nil {
		return nil, fmt.Errorf("writing the observations: %w", err)
	}
	return out.Bytes(), nil
}
