// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/cmd/perflab/source"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report"
)

const markdownExtension = ".md"

// pictureExtensions are those of pictures in notes. The report checks their content.
var pictureExtensions = []string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"}

// addNotes adds the notes of a file, or of a folder's files, to those of the experiment,
// as if they were stored in a ConfigMap with the pictures beside them.
func addNotes(recorded *report.Input, path string) error {
	files, err := noteFiles(path)
	if err != nil {
		return err
	}
	folder := filepath.Dir(files[0])
	kept := corev1.ConfigMap{Data: map[string]string{}}
	// The names of objects have no colon.
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

// noteFiles returns the file itself, or the Markdown files of a folder, by
// name.
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
		err = fmt.Errorf("%w: the folder %s has no file with the extension %s", exit.ErrOption, path, markdownExtension)
	}
	return files, err
}

// filesWithExtension returns a folder's regular files with these extensions, by
// name.
func filesWithExtension(folder string, endings ...string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("listing the folder %s: %w", folder, err)
	}
	var files []string
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		if source.IsFile(path) && slices.Contains(endings, strings.ToLower(filepath.Ext(path))) {
			files = append(files, path)
		}
	}
	return files, nil
}

// readPictures reads the pictures of a folder, by name.
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

// readUpTo reads at most one byte more than the limit: the report warns of larger
// files.
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

// freeNoteName derives a valid, unused name for a note from its file name.
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
