// SPDX-License-Identifier: Apache-2.0

package bundle_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"perflab.dev/perflab/hack/release/internal/bundle"
)

func TestEntriesAreSorted(t *testing.T) {
	entries := []bundle.Entry{
		bundle.File("docs/a.md", []byte("a")), bundle.Program("bin/run", []byte("#!")), bundle.File("b", nil),
		{Name: "bin/sh", Link: "/bin/run"},
		{Name: "tmp", Mode: bundle.Shared, Folder: true},
	}
	shuffled := slices.Clone(entries)
	rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	at := time.Unix(1_700_000_000, 0)
	for name, pack := range map[string]func([]bundle.Entry, time.Time) ([]byte, error){"Tar": bundle.TarGzip, "Zip": bundle.Zip} {
		first, err := pack(bundle.WithFolders(entries), at)
		if err != nil {
			t.Fatal(err)
		}
		second, err := pack(bundle.WithFolders(shuffled), at.In(time.FixedZone("elsewhere", 3600)))
		if err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s: the same entries in another order and time zone give other bytes, %v", name, err)
		}
	}
}
