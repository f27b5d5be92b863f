// SPDX-License-Identifier: Apache-2.0

// Package sbom lists the content of a program or an image, as SPDX 2.3.
package sbom

import (
	"bytes"
	"cmp"
	"crypto/sha1" //nolint:gosec // SPDX wants it of every file, beside the SHA-256.
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdx/v2/common"
	"github.com/spdx/tools-golang/spdxlib"

	"perflab.dev/perflab/hack/release/internal/licence"
)

// Subject is the subject of a list.
type Subject struct {
	// Name is the name of the archive or the image, with its platform.
	Name, Version, Licence string
	// Digest is the SHA-256 of the archive, or of the image's manifest.
	Digest string
	// Locator is its package URL. If it is empty, there is none.
	Locator string
	Created time.Time
}

// Program is a program in the subject.
type Program struct {
	// Path is the path in the archive or the image.
	Path    string
	Content []byte
	// Linked has the linked modules with their licenses.
	Linked []licence.Module
}

const (
	unsaid    = "NOASSERTION"
	namespace = "https://perflab.dev/spdx/"
)

// Document returns the list as JSON.
func Document(of Subject, programs []Program) ([]byte, error) {
	document := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT",
		DocumentName: of.Name, DocumentNamespace: namespace + of.Name + "-" + of.Digest,
		CreationInfo: &spdx.CreationInfo{
			Creators: []common.Creator{{CreatorType: "Organization", Creator: "The PerfLab Authors"}, {CreatorType: "Tool", Creator: "perflab-release"}},
			Created:  of.Created.UTC().Format(time.RFC3339),
		},
		Packages: []*spdx.Package{subjectPackage(of)},
	}
	relate(document, "DOCUMENT", "DESCRIBES", subjectID)
	modules, extracted := map[string]*spdx.Package{}, map[string]string{}
	for i, program := range programs {
		if err := add(document, i, program, modules, extracted); err != nil {
			return nil, fmt.Errorf("listing what is in %s: %w", program.Path, err)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(modules)) {
		document.Packages = append(document.Packages, modules[id])
		relate(document, subjectID, "CONTAINS", common.ElementID(id))
	}
	for _, id := range slices.Sorted(maps.Keys(extracted)) {
		document.OtherLicenses = append(document.OtherLicenses, &spdx.OtherLicense{LicenseIdentifier: id, ExtractedText: extracted[id]})
	}
	return write(document)
}

// write returns an error if the document violates SPDX's rules.
func write(document *spdx.Document) ([]byte, error) {
	if err := spdxlib.ValidateDocument(document); err != nil {
		return nil, fmt.Errorf("%s is not an SPDX document: %w", document.DocumentName, err)
	}
	var out bytes.Buffer
	err := json.Write(document, &out, json.Indent("  "), json.EscapeHTML(false))
	return out.Bytes(), err
}

const subjectID common.ElementID = "Package-subject"

func subjectPackage(of Subject) *spdx.Package {
	described := &spdx.Package{
		PackageName: of.Name, PackageSPDXIdentifier: subjectID, PackageVersion: of.Version,
		PackageDownloadLocation: unsaid, PackageLicenseConcluded: unsaid, PackageLicenseDeclared: of.Licence,
		PackageCopyrightText: unsaid, PackageChecksums: []common.Checksum{{Algorithm: common.SHA256, Value: of.Digest}},
	}
	if of.Locator != "" {
		described.PackageExternalReferences = []*spdx.PackageExternalReference{locator(of.Locator)}
	}
	return described
}

func locator(url string) *spdx.PackageExternalReference {
	return &spdx.PackageExternalReference{Category: common.CategoryPackageManager, RefType: "purl", Locator: url}
}

// add adds a program's file and the modules of its build information.
func add(document *spdx.Document, number int, program Program, modules map[string]*spdx.Package, extracted map[string]string) error {
	info, err := buildinfo.Read(bytes.NewReader(program.Content))
	if err != nil {
		return err
	}
	file := common.ElementID(fmt.Sprintf("File-%d", number))
	document.Files = append(document.Files, programFile(file, program))
	relate(document, subjectID, "CONTAINS", file)
	licences := map[string]licence.Module{}
	for _, linked := range program.Linked {
		licences[linked.Path] = linked
	}
	versions := map[string]string{licence.Standard: info.GoVersion}
	for _, dependency := range info.Deps {
		versions[dependency.Path] = dependency.Version
	}
	for _, path := range slices.Sorted(maps.Keys(versions)) {
		described := modulePackage(path, versions[path], licences[path])
		modules[string(described.PackageSPDXIdentifier)] = described
		extract(licences[path], extracted)
		relate(document, file, "DEPENDS_ON", described.PackageSPDXIdentifier)
	}
	return nil
}

func programFile(id common.ElementID, program Program) *spdx.File {
	short, long := sha1.Sum(program.Content), sha256.Sum256(program.Content) //nolint:gosec // As above.
	return &spdx.File{
		FileName: "./" + strings.TrimPrefix(program.Path, "/"), FileSPDXIdentifier: id, FileTypes: []string{"BINARY"},
		Checksums: []common.Checksum{
			{Algorithm: common.SHA1, Value: hex.EncodeToString(short[:])},
			{Algorithm: common.SHA256, Value: hex.EncodeToString(long[:])},
		},
		LicenseConcluded: unsaid, LicenseInfoInFiles: []string{unsaid}, FileCopyrightText: unsaid,
	}
}

// notInIDs matches the characters that SPDX identifiers cannot have. They have only
// letters, digits, dots and dashes.
var notInIDs = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

func modulePackage(path, version string, linked licence.Module) *spdx.Package {
	return &spdx.Package{
		PackageName: path, PackageVersion: version,
		PackageSPDXIdentifier:   common.ElementID("Package-" + notInIDs.ReplaceAllString(path+"-"+version, "-")),
		PackageDownloadLocation: unsaid, PackageLicenseConcluded: unsaid,
		PackageLicenseDeclared: cmp.Or(linked.Expression, unsaid), PackageCopyrightText: unsaid,
		PackageExternalReferences: []*spdx.PackageExternalReference{locator("pkg:golang/" + path + "@" + version)},
	}
}

// extract adds the text of a license that is not in SPDX's list.
func extract(linked licence.Module, extracted map[string]string) {
	for _, file := range linked.Files {
		for _, one := range file.Licences {
			if strings.HasPrefix(one, "LicenseRef-") {
				extracted[one] = file.Text
			}
		}
	}
}

func relate(document *spdx.Document, from common.ElementID, how string, to common.ElementID) {
	document.Relationships = append(document.Relationships, &spdx.Relationship{
		RefA: common.MakeDocElementID("", string(from)), RefB: common.MakeDocElementID("", string(to)), Relationship: how,
	})
}
