// SPDX-License-Identifier: Apache-2.0

package licence

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"

	"github.com/google/licenseclassifier/v2/assets"
)

// maxText is the size of a license's text at most.
const maxText = 1 << 20

// listedLibrary is a component of a CycloneDX bill of materials.
type listedLibrary struct {
	Group    string `json:"group"`
	Name     string `json:"name"`
	Version  string `json:"version"`
	Licenses []struct {
		License struct {
			ID   string `json:"id"`
			Name string `json:"name"`
		} `json:"license"`
		Expression string `json:"expression"`
	} `json:"licenses"`
}

// offered returns the licenses that the library's project lists, each of which is enough.
func (l listedLibrary) offered() []string {
	var all []string
	for _, one := range l.Licenses {
		for _, name := range []string{one.License.ID, one.License.Name, one.Expression} {
			if name != "" {
				all = append(all, identifier(name))
				break
			}
		}
	}
	return all
}

// Jars returns the libraries of a Java program, from its bill of materials in CycloneDX's JSON
// and the folder of its jars. Each has the licenses and notices of its jar, or else the standard
// text of its license.
func (p Policy) Jars(program string, bill []byte, folder string) ([]Module, error) {
	var listed struct {
		Components []listedLibrary `json:"components"`
	}
	if err := json.Unmarshal(bill, &listed); err != nil {
		return nil, fmt.Errorf("reading the bill of materials: %w", err)
	}
	var modules []Module
	for _, library := range listed.Components {
		module := Module{Path: library.Group + ":" + library.Name, Version: library.Version, Expression: p.choose(program, library.offered())}
		if decision, decided := p.decision(module.Path); decided {
			module.Expression = decision.Licence
		}
		files, err := jarFiles(filepath.Join(folder, library.Name+"-"+library.Version+".jar"))
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			files = standardText(module.Expression)
		}
		module.Files = files
		modules = append(modules, module)
	}
	return modules, nil
}

// jarFiles returns the licenses and notices of a jar.
func jarFiles(name string) ([]File, error) {
	jar, err := zip.OpenReader(name)
	if err != nil {
		return nil, fmt.Errorf("a library of the bill of materials: %w", err)
	}
	defer func() { _ = jar.Close() }() // It is only read.
	var files []File
	for _, entry := range jar.File {
		if folder := path.Dir(entry.Name); entry.FileInfo().IsDir() || folder != "." && folder != "META-INF" || !statesLicence(path.Base(entry.Name)) {
			continue
		}
		opened, err := entry.Open()
		if err != nil {
			return nil, fmt.Errorf("%s in %s: %w", entry.Name, name, err)
		}
		text, err := io.ReadAll(io.LimitReader(opened, maxText))
		if err != nil {
			return nil, fmt.Errorf("%s in %s: %w", entry.Name, name, err)
		}
		files = append(files, File{Name: entry.Name, Text: string(text)})
	}
	return files, nil
}

// standardText returns the text of a license; none if it is unknown.
func standardText(expression string) []File {
	folder := strings.TrimSuffix(expression, "-only")
	for _, name := range []string{"license.txt", "pristine.txt"} {
		if text, err := assets.ReadLicenseFile(path.Join("License", folder, name)); err == nil {
			return []File{{Name: expression, Text: string(text)}}
		}
	}
	return nil
}
