// SPDX-License-Identifier: AGPL-3.0-only

package marc_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/k6/internal/marctest"
	"perflab.dev/perflab/k6/marc"
)

// leaders is the content of positions 05 to 07 of the leaders, by kind.
var leaders = map[marc.Kind]string{marc.Bibliographic: "cam", marc.Holdings: "nx ", marc.Authority: "nz "}

func order(kind marc.Kind) marc.Options {
	return marc.Options{
		Kind: kind, Seed: "7", Run: "run-1", Import: 1, Records: 2100,
		Instances: []string{"in00000000001", "in00000000002"}, Location: "KU/CC/DI/M",
	}
}

func newFile(t testing.TB, o marc.Options) *marc.File {
	t.Helper()
	file, err := marc.NewFile(o)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func read(t *testing.T, o marc.Options) [][]marctest.Field {
	t.Helper()
	records, err := marctest.Read(string(newFile(t, o).Rest()), leaders[o.Kind])
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func TestRecordsAreValidAndTheirKeysUnique(t *testing.T) {
	for kind := range leaders {
		t.Run(string(kind), func(t *testing.T) {
			keys := map[string]bool{}
			first, second, otherRun := order(kind), order(kind), order(kind)
			second.Import, otherRun.Run = 2, "run-2"
			for _, o := range []marc.Options{first, second, otherRun} {
				for _, fields := range read(t, o) {
					key := marctest.Value(fields, "001")
					if keys[key] || key == "" {
						t.Fatalf("the key %q is not unique", key)
					}
					keys[key] = true
					if !slices.IsSortedFunc(fields, func(a, b marctest.Field) int { return strings.Compare(a.Tag, b.Tag) }) {
						t.Fatalf("fields out of order: %v", fields)
					}
				}
			}
			if len(keys) != 3*first.Records {
				t.Errorf("%d keys in three files of %d records", len(keys), first.Records)
			}
		})
	}
}

func TestRecordContent(t *testing.T) {
	for _, fields := range read(t, order(marc.Bibliographic)) {
		key := marctest.Value(fields, "001")
		if marctest.Value(fields, "010") != "   "+key || marctest.Value(fields, "035") != "(PerfLab)"+key {
			t.Fatalf("key %q in %v", key, fields)
		}
		if len(marctest.Value(fields, "008")) != 40 || len(marctest.Value(fields, "005")) != 16 || marctest.Value(fields, "245") == "" {
			t.Fatalf("008, 005 or 245 of %v", fields)
		}
	}
	for n, fields := range read(t, order(marc.Holdings)) {
		want := []string{"in00000000001", "in00000000002", "in00000000001"}[n/1000]
		if marctest.Value(fields, "004") != want || marctest.Subfield(fields, "852", "b") != "KU/CC/DI/M" || len(marctest.Value(fields, "008")) != 32 {
			t.Fatalf("record %d, of instance %s: %v", n+1, want, fields)
		}
	}
	headings := map[string]int{}
	for _, fields := range read(t, order(marc.Authority)) {
		if marctest.Value(fields, "010") != marctest.Value(fields, "001") || len(marctest.Value(fields, "008")) != 40 {
			t.Fatalf("001, 010 or 008 of %v", fields)
		}
		for _, f := range fields {
			if f.Tag[0] == '1' {
				headings[f.Tag]++
			}
		}
	}
	if headings["100"] != 1470 || headings["110"] != 210 || headings["150"] != 210 || headings["151"] != 210 {
		t.Errorf("headings %v, want 70 %% persons", headings)
	}
}

func TestRecordSizesMatchRealFiles(t *testing.T) {
	for kind, bounds := range map[marc.Kind][2]int{
		marc.Bibliographic: {1300, 1700}, marc.Holdings: {150, 185}, marc.Authority: {1000, 1400},
	} {
		o := order(kind)
		file := newFile(t, o).Rest()
		if mean := len(file) / o.Records; mean < bounds[0] || mean > bounds[1] {
			t.Errorf("%s: %d bytes per record, want %v", kind, mean, bounds)
		}
		if runes := bytes.Runes(file); kind != marc.Holdings && len(runes) == len(file) {
			t.Errorf("%s: all of the file is ASCII", kind)
		}
	}
}

func TestFilesRepeat(t *testing.T) {
	whole := newFile(t, order(marc.Bibliographic)).Rest()
	var parts []byte
	file := newFile(t, order(marc.Bibliographic))
	for n := 0; ; n++ {
		part := file.Next(nil, 64<<10)
		if len(part) == 0 {
			break
		}
		if last := len(parts)+len(part) == len(whole); !last && (len(part) < 64<<10 || len(part) > 68<<10) {
			t.Errorf("part %d has %d bytes", n, len(part))
		}
		parts = append(parts, part...)
	}
	if !bytes.Equal(parts, whole) {
		t.Error("in parts the file is another")
	}
	// Imports of a run are the same work: they differ only by their number.
	second := order(marc.Bibliographic)
	second.Import = 2
	number := regexp.MustCompile(`(pl\d{14})00[12]`)
	if a, b := number.ReplaceAll(whole, []byte("$1")), number.ReplaceAll(newFile(t, second).Rest(), []byte("$1")); !bytes.Equal(a, b) {
		t.Error("two imports of a run differ by more than their number")
	}
	for _, change := range []func(*marc.Options){
		func(o *marc.Options) { o.Seed = "8" },
		func(o *marc.Options) { o.Run = "run-2" },
	} {
		o := order(marc.Bibliographic)
		change(&o)
		if bytes.Equal(newFile(t, o).Rest(), whole) {
			t.Errorf("%+v makes the same file", o)
		}
	}
}

func TestNewFileRejectsInvalidOptions(t *testing.T) {
	for want, change := range map[string]func(*marc.Options){
		"1 to 999999":                     func(o *marc.Options) { o.Records = marc.MaxRecords + 1 },
		"imports are numbered 1 to 999":   func(o *marc.Options) { o.Import = 0 },
		`kind "Maps": it can be`:          func(o *marc.Options) { o.Kind = "Maps" },
		"needs the HRID of an instance":   func(o *marc.Options) { o.Kind, o.Instances = marc.Holdings, nil },
		"and the code of a location":      func(o *marc.Options) { o.Kind, o.Location = marc.Holdings, "" },
		"0 records: it can have 1 to 999": func(o *marc.Options) { o.Records = 0 },
	} {
		o := order(marc.Bibliographic)
		change(&o)
		if _, err := marc.NewFile(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestLargeFilesTakeLittleMemory limits the memory for 100,000 records in parts of 5 MiB. Their
// 150 MB are never in memory at once.
func TestLargeFilesTakeLittleMemory(t *testing.T) {
	const bound = 48 << 20
	o := order(marc.Bibliographic)
	o.Records = 100_000
	file, total, most := newFile(t, o), 0, uint64(0)
	runtime.GC()
	before := heap()
	for {
		// Each part has its own buffer, as in a script.
		part := file.Next(make([]byte, 0, 5<<20+8<<10), 5<<20)
		if len(part) == 0 {
			break
		}
		total += len(part)
		most = max(most, heap()-before)
	}
	if total < 140<<20 {
		t.Errorf("the file has %d bytes, less than a real one", total)
	}
	t.Logf("%d bytes, at most %d KiB of heap", total, most>>10)
	if most > bound {
		t.Errorf("the heap grew to %d MiB, more than %d", most>>20, bound>>20)
	}
}

// heap returns the memory of live and dead objects, which the kernel counts as used.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestPymarcReadsThem reads the files with a third-party reader.
func TestPymarcReadsThem(t *testing.T) {
	if err := exec.CommandContext(t.Context(), "python3", "-c", "import pymarc").Run(); err != nil {
		t.Skip("needs python3 with pymarc (pip install pymarc)")
	}
	const script = `
import sys, pymarc
count, keys = 0, set()
for record in pymarc.MARCReader(open(sys.argv[1], "rb"), to_unicode=True, force_utf8=True):
    if record is None:
        sys.exit("pymarc cannot read record %d" % (count + 1))
    count += 1
    keys.add(record["001"].data)
    again = pymarc.Record(record.as_marc(), to_unicode=True, force_utf8=True)
    if [str(f) for f in again.fields] != [str(f) for f in record.fields]:
        sys.exit("record %d is another when pymarc writes it" % count)
print(count, len(keys))
`
	for kind := range leaders {
		path := filepath.Join(t.TempDir(), "file.mrc")
		if err := os.WriteFile(path, newFile(t, order(kind)).Rest(), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), "python3", "-c", script, path).CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != "2100 2100" {
			t.Errorf("%s: %v %s, want 2100 records", kind, err, out)
		}
	}
}

func BenchmarkRecords(b *testing.B) {
	for _, kind := range []marc.Kind{marc.Bibliographic, marc.Holdings, marc.Authority} {
		b.Run(string(kind), func(b *testing.B) {
			b.ReportAllocs()
			o := order(kind)
			o.Records = marc.MaxRecords
			part, bytesMade, made := make([]byte, 0, 64<<10), 0, 0
			file := newFile(b, o)
			for b.Loop() {
				if made++; made > o.Records {
					file, made = newFile(b, o), 1
				}
				part = file.Next(part[:0], 1)
				bytesMade += len(part)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
			b.ReportMetric(float64(bytesMade)/float64(b.N), "bytes/record")
		})
	}
}
