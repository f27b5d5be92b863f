// SPDX-License-Identifier: Apache-2.0

package recorded

import (
	"bytes"
	"image"
	"image/png"
)

// Image returns a PNG for notes.
func Image() []byte {
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 4, 3))); err != nil {
		// Writes to a buffer succeed.
		panic(err)
	}
	return out.Bytes()
}
