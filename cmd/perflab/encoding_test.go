// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// encodings that shells, editors and spreadsheets use.
var encodings = map[string]encoding.Encoding{
	"UTF-8 with a mark":     unicode.UTF8BOM,
	"little-endian UTF-16":  unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
	"big-endian UTF-16":     unicode.UTF16(unicode.BigEndian, unicode.UseBOM),
	"UTF-16 without a mark": unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
	"UTF-32":                utf32.UTF32(utf32.LittleEndian, utf32.UseBOM),
	"big-endian UTF-32":     utf32.UTF32(utf32.BigEndian, utf32.UseBOM),
	"Windows-1252":          charmap.Windows1252,
}

// Every command that reads files reads them in every encoding.
func TestEncodings(t *testing.T) {
	const (
		runs      = "\"block\",arm,scenario,metric,unit,value\n1,a,Größe,m,µs,400\n1,b,Größe,m,µs,410\n"
		published = "\"report\",table,configuration,scenario,metric,value,unit,kind\nr,t,neu,Größe,m,5,µs,measured\nr,t,alt,Größe,m,4,µs,measured\nr,t,neu minus alt,Größe,m,2,µs,published_delta\n"
		jtl       = "\"timeStamp\",elapsed,label,success\n1735900000000,100,Größe,true\n"
		bench     = "BenchmarkGröße\t10\t5 ns/op\n"
		table     = "\"arm\",scenario,metric,unit,value\na,s,l/Größe/average,µs,400\n"
		lines     = `{"type":"Point","metric":"http_req_duration","data":{"time":"2025-01-03T08:00:00Z","value":1,"tags":{"name":"Größe"}}}` + "\n"
		log       = "RUN\tx\tx\t1735900000000\t \t3.9.5\nREQUEST\t\tGröße\t1735900000000\t1735900000120\tOK\t \n"
	)
	convert := func(format string) []string {
		return []string{"convert", "--from", format, "--name", "n", "--measured", "2025-01-03", "--arm"}
	}
	record := perflab(t, jtl, append(convert("jmeter"), "a=-")...).out
	for name, tc := range map[string]struct {
		text      string
		arguments []string
	}{
		"analyze":    {runs, []string{"analyze", "--baseline", "a"}},
		"audit":      {published, []string{"audit"}},
		"jmeter":     {jtl, convert("jmeter")},
		"jmeter XML": {`<?xml version="1.0"?><testResults><httpSample t="10" ts="1735900000000" s="true" lb="Größe"/></testResults>`, convert("jmeter")},
		"k6":         {lines, convert("k6")},
		"k6 summary": {`{"metrics": {"http_req_duration{name:Größe}": {"avg": 101, "max": 200}}}`, convert("k6-summary")},
		"gatling":    {log, convert("gatling")},
		"gobench":    {bench, convert("gobench")},
		"prometheus": {`{"status": "success", "data": {"resultType": "matrix", "result": [{"metric": {"name": "Größe"}, "values": [[1735900000, "1"]]}]}}`, convert("prometheus")},
		"table":      {table, []string{"convert", "--from", "table", "--name", "n", "--measured", "2025-01-03"}},
		"report":     {record, []string{"report", "-f"}},
	} {
		read := func(text string) answer {
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			arguments := append([]string{}, tc.arguments...)
			if last := arguments[len(arguments)-1]; last == "--arm" {
				path = "a=" + path
			}
			got := perflab(t, "", append(arguments, path)...)
			// The digest is that of the file as stored.
			kept := strings.Split(got.out, "\n")
			for i, line := range kept {
				if strings.Contains(line, "sha256:") {
					kept[i] = ""
				}
			}
			got.out = strings.ReplaceAll(strings.Join(kept, "\n"), filepath.Dir(path), "")
			return got
		}
		want := read(tc.text)
		if want.code != 0 || !strings.Contains(want.out, "Größe") {
			t.Errorf("%s: exit code %d: %s%s", name, want.code, want.out, want.problems)
			continue
		}
		for encoding, how := range encodings {
			text, err := how.NewEncoder().String(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := read(text); got.code != 0 || got.out != want.out {
				t.Errorf("%s in %s: exit code %d: %s%s", name, encoding, got.code, got.out, got.problems)
			}
		}
	}
}
