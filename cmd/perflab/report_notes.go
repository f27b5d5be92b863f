// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report"
)

const markdownExtension = ".md"

// pictureEndings are those of files that a note may show. What they hold is looked at
// when the report is written.
var pictureExtensions = []string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"}

// addNotes adds the notes of a file, or of a folder's files, to those of the experiment,
// as if they were kept in a ConfigMap with all that lies beside them.
func addNotes(recorded *report.Input, path string) error {
	files, err := noteFiles(path)
	if err != nil {
		return err
	}
	folder := filepath.Dir(files[0])
	kept := corev1.ConfigMap{Data: map[string]string{}}
	// No name of an object has a colon.
	kept.Name = "file:" + path
	if kept.BinaryData, err = readPictures(folder); err != nil {
		return err
	}
	for _, file := range files {
		text, err := readUpTo(file, report.MaxNoteBytes)
		if err != nil {
			return err
		}
		key := filepath.Base(file)
		kept.Data[key] = string(text)
		stem := strings.TrimSuffix(key, markdownExtension)
		recorded.Experiment.Spec.Notes = append(recorded.Experiment.Spec.Notes, v1alpha1.Note{
			Name: freeNoteName(stem, recorded.Experiment.Spec.Notes), Section: report.SectionNamed(stem),
			ConfigMap: &v1alpha1.ConfigMapKey{Name: kept.Name, Key: key},
		})
	}
	recorded.Notes = append(recorded.Notes, kept)
	return nil
}

// noteFiles are the file itself, or the Markdown files of a folder, by name.
func noteFiles(path string) ([]string, error) {
	found, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("opening the notes: %w", err)
	}
	if !found.IsDir() {
		return []string{path}, nil
	}
	files, err := filesWithExtension(path, markdownExtension)
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%w: the folder %s holds no file that ends in %s", errOption, path, markdownExtension)
	}
	return files, err
}

// filesEnding are a folder's regular files that end like this, by name.
func filesWithExtension(folder string, endings ...string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("listing the folder %s: %w", folder, err)
	}
	var files []string
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		if isFile(path) && slices.Contains(endings, strings.ToLower(filepath.Ext(path))) {
			files = append(files, path)
		}
	}
	return files, nil
}

// picturesIn a folder, by their names.
func readPictures(folder string) (map[string][]byte, error) {
	files, err := filesWithExtension(folder, pictureExtensions...)
	if err != nil {
		return nil, err
	}
	pictures := map[string][]byte{}
	for _, file := range files {
		if pictures[filepath.Base(file)], err = readUpTo(file, report.MaxPictureBytes); err != nil {
			return nil, err
		}
	}
	return pictures, nil
}

// readUpTo so many bytes of a file, and one more where there are: the report says of
// what is too large that it is.
func readUpTo(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening a note: %w", err)
	}
	defer func() { _ = file.Close() }()
	body, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return body, nil
}

var nonNameCharacters = regexp.MustCompile(`[^a-z0-9]+`)

// noteName is what a note is called whose file has this name: what an experiment may
// call one, and none of it does yet.
func freeNoteName(stem string, taken []v1alpha1.Note) string {
	name := strings.Trim(nonNameCharacters.ReplaceAllString(strings.ToLower(stem), "-"), "-")
	if name == "" {
		name = "note"
	}
	free := name
	for number := 2; slices.ContainsFunc(taken, func(note v1alpha1.Note) bool { return note.Name == free }); number++ {
		free = fmt.Sprintf("%s-%d", name, number)
	}
	return free
}
