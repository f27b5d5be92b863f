// SPDX-License-Identifier: Apache-2.0

package recorded

import (
	"bytes"
	"image"
	"image/png"
)

// Image is a PNG that a note may show.
func Image() []byte {
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 4, 3))); err != nil {
		// A buffer takes every write.
		panic(err)
	}
	return out.Bytes()
}
