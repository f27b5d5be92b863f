// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/runs/provenance"
	"perflab.dev/perflab/internal/text/prose"
)

// Files of a site. Each report has a folder with its page and its entry. The index is built
// from the entries only.
const (
	pageFile  = "index.html"
	entryFile = "report.json"
)

// maxEntry exceeds the size of any entry.
const maxEntry = 1 << 20

// ErrFolder means that publishing would overwrite files of others.
var ErrFolder = errors.New("can't publish to the folder")

// Entry is a report in an index.
type Entry struct {
	UID        string             `json:"uid"`
	Namespace  string             `json:"namespace"`
	Name       string             `json:"name"`
	Question   string             `json:"question"`
	Answer     string             `json:"answer"`
	Verdicts   []report.Statement `json:"verdicts,omitempty"`
	Experiment string             `json:"experiment"`
	Runs       int                `json:"runs"`
	Measured   time.Time          `json:"measured"`
	// folder of the entry, relative to the site.
	folder string
}

// File is a file to write, by its path with slashes within the folder.
type File struct {
	Path string
	Body []byte
}

// newEntry returns the entry of a report.
func newEntry(brief report.Brief) Entry {
	answer := brief.Sentence
	if len(brief.Banner) > 0 {
		answer = brief.Banner[0]
	}
	return Entry{
		UID: string(brief.Origin.UID), Namespace: brief.Origin.Namespace, Name: brief.Origin.Name,
		Question: brief.Title, Answer: answer, Verdicts: brief.Verdicts, Experiment: brief.Subtitle,
		Runs: brief.Runs, Measured: brief.Measured,
	}
}

// folderName returns the folder of an experiment's report, from its namespace, name and UID:
// a recreated experiment of the same name has a separate page. It rejects names that the API
// server would reject, so none leads out of the site.
func folderName(from provenance.Origin) (string, error) {
	if problems := validation.IsDNS1123Subdomain(from.Name); len(problems) > 0 {
		return "", fmt.Errorf("%w: experiment %q: its name %s", ErrFolder, from.Name, problems[0])
	}
	namespace := cmp.Or(from.Namespace, "default")
	if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
		return "", fmt.Errorf("%w: experiment %q: its namespace %q %s", ErrFolder, from.Name, namespace, problems[0])
	}
	name := from.Name
	if from.UID != "" {
		name += "-" + naming.Hash(string(from.UID))[:naming.DigestLength]
	}
	return namespace + "/" + name, nil
}

// FolderPlan is the planned changes of a site.
type FolderPlan struct {
	// Page of the report, relative to the site.
	Page string
	// Entries of the new index.
	Entries []Entry
	// Changed are the missing and changed files.
	Changed []File

	site string
	isIn bool
}

// PlanFolder plans the files of a site for this report and the existing entries.
func PlanFolder(site string, document *report.Report, entries []Entry) (*FolderPlan, error) {
	own := newEntry(document.Brief())
	var err error
	if own.folder, err = folderName(document.Brief().Origin); err != nil {
		return nil, err
	}
	isOwn := func(e Entry) bool { return e.folder == own.folder }
	plan := &FolderPlan{Page: own.folder + "/" + pageFile, site: site, isIn: slices.ContainsFunc(entries, isOwn)}
	plan.Entries = append(slices.DeleteFunc(slices.Clone(entries), isOwn), own)
	files, err := newFiles(document, own, plan.Entries)
	if err != nil {
		return nil, err
	}
	if err := checkIndex(site); err != nil {
		return nil, err
	}
	plan.Changed, err = changedFiles(site, files)
	return plan, err
}

// newFiles returns all files of the report and its index.
func newFiles(document *report.Report, own Entry, entries []Entry) ([]File, error) {
	page, err := document.HTML()
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(own, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the entry of %q: %w", own.Name, err)
	}
	index, err := renderIndex(entries)
	if err != nil {
		return nil, err
	}
	// The index is last, so that the pages it links to exist.
	return []File{{own.folder + "/" + pageFile, page}, {own.folder + "/" + entryFile, append(text, '\n')}, {pageFile, index}}, nil
}

// Write writes the changed files into the site, which is created if needed. Each file is
// replaced atomically.
func (p *FolderPlan) Write() error {
	for _, file := range p.Changed {
		if err := writeAtomically(filepath.Join(p.site, filepath.FromSlash(file.Path)), file.Body); err != nil {
			return fmt.Errorf("writing %s: %w", file.Path, err)
		}
	}
	return nil
}

// Describe describes what was done, or would be.
func (p *FolderPlan) Describe(dryRun bool) string {
	page := filepath.Join(p.site, filepath.FromSlash(p.Page))
	verb := "is added"
	switch {
	case len(p.Changed) == 0:
		return page + " is up to date: nothing was written"
	case p.isIn:
		verb = "is updated"
	}
	if dryRun {
		verb = strings.Replace(verb, "is", "would be", 1)
	}
	return fmt.Sprintf("%s %s; the index lists %s", page, verb, prose.Counted(len(p.Entries), "report"))
}

// Entries returns the reports in a folder. An unreadable one is an error: an index without it
// would lose a report.
func Entries(folder string) ([]Entry, error) {
	found, err := filepath.Glob(filepath.Join(escapeGlob(folder), "*", "*", entryFile))
	if err != nil {
		return nil, fmt.Errorf("reading the folder %s: %w", folder, err)
	}
	var entries []Entry
	for _, file := range found {
		entry, err := readEntry(file)
		if err != nil {
			return nil, fmt.Errorf("%w: %s is not the entry of a report (%w): remove its folder, or publish to another one", ErrFolder, file, err)
		}
		within, err := filepath.Rel(folder, filepath.Dir(file))
		if err != nil {
			return nil, fmt.Errorf("reading the folder %s: %w", folder, err)
		}
		entry.folder = filepath.ToSlash(within)
		entries = append(entries, entry)
	}
	return entries, nil
}

// escapeGlob escapes a folder's name for a glob pattern.
func escapeGlob(folder string) string {
	if os.PathSeparator != '/' {
		return folder // A backslash separates there, and can't escape.
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(folder)
}

func readEntry(file string) (Entry, error) {
	about, err := os.Lstat(file)
	if err != nil {
		return Entry{}, err
	}
	if !about.Mode().IsRegular() || about.Size() > maxEntry {
		return Entry{}, errors.New("it is not a regular file, or it is too large")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return Entry{}, err
	}
	var entry Entry
	if err := json.Unmarshal(text, &entry); err != nil {
		return Entry{}, err
	}
	if entry.Name == "" || entry.Question == "" {
		return Entry{}, errors.New("it does not name an experiment")
	}
	return entry, nil
}

// changedFiles returns the files that are missing in a site or differ there.
func changedFiles(folder string, files []File) ([]File, error) {
	var changed []File
	for _, file := range files {
		held, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(file.Path)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading the published files: %w", err)
		}
		if err != nil || !bytes.Equal(held, file.Body) {
			changed = append(changed, file)
		}
	}
	return changed, nil
}

// checkIndex rejects a folder with another program's index.
func checkIndex(folder string) error {
	held, err := os.ReadFile(filepath.Join(folder, pageFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the published files: %w", err)
	}
	if !bytes.Contains(held, []byte(indexMark)) {
		return fmt.Errorf("%w: perflab publish did not create %s: choose an empty folder, or move that file", ErrFolder, filepath.Join(folder, pageFile))
	}
	return nil
}

// indexMark identifies our index.
const indexMark = `<meta name="generator" content="perflab publish">`

func writeAtomically(name string, body []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	partial, err := os.CreateTemp(filepath.Dir(name), ".publish-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(partial.Name()) // The first error is more useful.
		}
	}()
	_, err = partial.Write(body)
	// Readable by all users, because the web server may run as any of them.
	err = errors.Join(err, partial.Chmod(0o644), partial.Sync(), partial.Close())
	if err != nil {
		return err
	}
	return os.Rename(partial.Name(), name)
}
