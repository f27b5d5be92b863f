// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/testing/expect"
)

func packed(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	if _, err := writer.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	expect.NoError(t, writer.Close())
	return out.String()
}

// Every command that reads files describes an unreadable file in one line.
func TestCommandsDescribeUnreadableFiles(t *testing.T) {
	whole := packed(t, strings.Repeat("block,arm,scenario,metric,unit,value\n", 10))
	garbage := map[string][2]string{
		"binary": {"\x7fELF\x02\x01\x01\x00\x00\x00", "is binary, not YAML, JSON, CSV or Markdown: name the file itself"},
		"page":   {"\n<!DOCTYPE html><html></html>", "is a web page or XML"},
		"empty":  {" \n\t", "is empty"},
		"cut.gz": {whole[:len(whole)-10], "is truncated"},
		"no.gz":  {"apiVersion: v1", "is not a gzip file"},
	}
	commands := map[string][]string{
		"plan": {"plan", "-f"}, "report": {"report", "-f"}, "import": {"import", "-f"}, "publish": {"publish", "--dir", "site", "-f"},
		"analyze": {"analyze", "--baseline", "a"}, "audit": {"audit"}, "verify": {"verify"}, "run": {"run", "-f"}, "pilot": {"plan", "-f", "testdata/experiment.yaml", "-f", "testdata/system.yaml", "--pilot"},
	}
	folder := t.TempDir()
	for name, what := range garbage {
		path := filepath.Join(folder, name)
		expect.NoError(t, os.WriteFile(path, []byte(what[0]), 0o600))
		for command, arguments := range commands {
			t.Run(command+" "+name, func(t *testing.T) {
				got := perflab(t, "", append(arguments, path)...)
				if got.code != exit.Invalid || !strings.Contains(got.problems, what[1]) || !strings.Contains(got.problems, path) || strings.Count(got.problems, "\n") != 1 {
					t.Errorf("exit code %d:\n%s", got.code, got.problems)
				}
			})
		}
	}
}

// Other compression formats than gzip are refused, even if they contain uncompressed text.
func TestCommandsRefuseUnsupportedCompression(t *testing.T) {
	const text = "BenchmarkA 10 5 ns/op\n"
	var zipped, tarred bytes.Buffer
	archive := zip.NewWriter(&zipped)
	file, err := archive.CreateHeader(&zip.FileHeader{Name: "a.txt", Method: zip.Store})
	expect.NoError(t, err)
	_, err = file.Write([]byte(text))
	expect.NoError(t, err)
	expect.NoError(t, archive.Close())
	tape := tar.NewWriter(&tarred)
	expect.NoError(t, tape.WriteHeader(&tar.Header{Name: "a.txt", Mode: 0o600, Size: int64(len(text))}))
	_, err = tape.Write([]byte(text))
	expect.NoError(t, err)
	expect.NoError(t, tape.Close())
	for name, what := range map[string][2]string{
		"a.xlsx": {zipped.String(), "is a ZIP archive or a workbook such as .xlsx: unpack it, or save the sheet as CSV"},
		"a.tar":  {tarred.String(), "is a tar archive: unpack it"},
		"a.tgz":  {packed(t, tarred.String()), "is a tar archive: unpack it"},
		"a.xz":   {"\xfd7zXZ\x00" + text, "is compressed by xz: decompress it, or use gzip"},
		"a.zst":  {"\x28\xb5\x2f\xfd" + text, "is compressed by zstd"},
		"a.bz2":  {"BZh9" + text, "is compressed by bzip2"},
		"a.xls":  {"\xd0\xcf\x11\xe0" + text, "is an old workbook such as .xls: save the sheet as CSV"},
	} {
		path := filepath.Join(t.TempDir(), name)
		expect.NoError(t, os.WriteFile(path, []byte(what[0]), 0o600))
		for _, arguments := range [][]string{
			{"convert", "--from", "gobench", "--name", "n", "--measured", "2025-01-03", "--arm", "a=" + path},
			{"convert", "--from", "table", "--name", "n", path},
			{"analyze", "--baseline", "a", path},
			{"audit", path},
			{"report", "-f", path},
		} {
			perflab(t, "", arguments...).ends(exit.Invalid).warns(path + " " + what[1])
		}
	}
}

// Commands that need objects refuse other text.
func TestCommandsRefuseTextWithoutObjects(t *testing.T) {
	for _, arguments := range [][]string{{"plan", "-f", "-"}, {"report", "-f", "-"}, {"import", "-f", "-"}, {"verify", "-"}} {
		for _, text := range []string{"hello", "[1, 2]", "7"} {
			perflab(t, text, arguments...).ends(exit.Invalid).warns("not a Kubernetes object, which has apiVersion and kind")
		}
	}
}

// Folders, compressed files and compressed standard input are planned like
// files.
func TestPlanReadsFoldersAndCompressedFiles(t *testing.T) {
	folder := t.TempDir()
	all := ""
	for i, path := range []string{"testdata/experiment.yaml", "testdata/system.yaml"} {
		text, err := os.ReadFile(path)
		expect.NoError(t, err)
		all += string(text) + "\n---\n"
		expect.NoError(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.yaml.gz", i)), []byte(packed(t, string(text))), 0o600))
	}
	perflab(t, "", "plan", "-f", folder).ends(0).shows("Experiment heaps: 12 runs")
	perflab(t, packed(t, all), "plan", "-f", "-").ends(0).shows("Experiment heaps: 12 runs")
	perflab(t, "", "plan", "-f", t.TempDir()).ends(exit.Invalid).warns("has no file with the extension .yaml")
}

// An invalid experiment does not prevent the plans of others.
func TestPlanContinuesAfterError(t *testing.T) {
	text, err := os.ReadFile("testdata/experiment.yaml")
	expect.NoError(t, err)
	other := strings.NewReplacer("name: heaps", "name: lost", "name: library", "name: nowhere").Replace(string(text))
	got := perflab(t, other+"\n---\n"+string(text), "plan", "-f", "-", "-f", "testdata/system.yaml")
	if got.code == 0 || !strings.Contains(got.out, "Experiment heaps: 12 runs") || !strings.Contains(got.problems, `"lost" refers to PerfSystem "nowhere"`) {
		t.Errorf("exit code %d: %s%s", got.code, got.out, got.problems)
	}
}

func TestErrorsWithoutCluster(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("HOME", t.TempDir())
	perflab(t, "", "status", "heaps").ends(exit.Failed).warns("no cluster is configured: set KUBECONFIG")
	perflab(t, "", "status", "heaps", "--server", "http://127.0.0.1:1").ends(exit.Failed).warns("the cluster does not answer")
}

// Long tables are truncated with a note.
func TestTablesOmitRows(t *testing.T) {
	rows := []string{"block,arm,scenario,metric,unit,value"}
	for metric := range 300 {
		for block := range 2 {
			rows = append(rows, fmt.Sprintf("%d,a,s,m%d,ms,%d", block+1, metric, 10+block), fmt.Sprintf("%d,b,s,m%d,ms,%d", block+1, metric, 12+block))
		}
	}
	in, listed := strings.Join(rows, "\n"), regexp.MustCompile(`\n  m\d+ `)
	cut, whole := perflab(t, in, "analyze", "--baseline", "a"), perflab(t, in, "analyze", "--baseline", "a", "--all")
	if len(listed.FindAllString(cut.out, -1)) != 200 || !strings.Contains(cut.out, "100 further rows omitted: use --all") {
		t.Errorf("it is not cut:\n%s", cut.out)
	}
	if len(listed.FindAllString(whole.out, -1)) != 300 || strings.Contains(whole.out, "omitted") {
		t.Errorf("--all omits:\n%s", whole.out)
	}
	audited := []string{"report,table,configuration,scenario,metric,value,unit,kind"}
	for row := range 1500 {
		audited = append(audited, fmt.Sprintf("r,t%d,a,s,m,1,ms,measured\nr,t%d,b,s,m,2,ms,measured\nr,t%d,b minus a,s,m,7,ms,published_delta", row, row, row))
	}
	if got := perflab(t, strings.Join(audited, "\n"), "audit"); strings.Count(got.out, "\n") > 1000 || !strings.Contains(got.out, "omitted") {
		t.Errorf("the audit has %d lines:\n%.2000s", strings.Count(got.out, "\n"), got.out)
	}
}

func TestVersionFlag(t *testing.T) {
	flag, command := perflab(t, "", "--version"), perflab(t, "", "version")
	if flag.code != 0 || flag.out != command.out {
		t.Errorf("--version says %q, version %q", flag.out, command.out)
	}
}
