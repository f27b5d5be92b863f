// SPDX-License-Identifier: Apache-2.0

// Package provenance records how a release was built, as SLSA provenance 1.0 in an in-toto
// statement.
package provenance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	slsa "github.com/in-toto/attestation/go/predicates/provenance/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// PredicateType is the type of the statement's predicate.
const PredicateType = "https://slsa.dev/provenance/v1"

const (
	// builder is the machine that runs make release. No service attests the build.
	builder = "https://perflab.dev/builders/make-release"
	// buildType is make release, with its parameters.
	buildType = "https://perflab.dev/build-types/make-release/v1"
)

// Subject is a file, or an image by the digest of its manifest.
type Subject struct{ Name, SHA256 string }

// Build describes how a release was built.
type Build struct {
	// Parameters has the parameters of make release. Together with the commit and Go, they
	// determine every byte.
	Parameters map[string]any
	// Revision is the commit.
	Revision string
	// Go is the toolchain's version, for example go1.26.0.
	Go       string
	Subjects []Subject
}

// Statement returns the in-toto statement as JSON. The same build gives the same bytes.
func Statement(of Build) ([]byte, error) {
	parameters, err := structpb.NewStruct(of.Parameters)
	if err != nil {
		return nil, err
	}
	built := &slsa.Provenance{
		BuildDefinition: &slsa.BuildDefinition{
			BuildType: buildType, ExternalParameters: parameters,
			ResolvedDependencies: []*intoto.ResourceDescriptor{
				{Name: "source", Digest: map[string]string{string(intoto.AlgorithmGitCommit): of.Revision}},
				{Name: "go", Uri: "pkg:golang/stdlib@" + strings.TrimPrefix(of.Go, "go")},
			},
		},
		RunDetails: &slsa.RunDetails{Builder: &slsa.Builder{Id: builder}},
	}
	if err := built.Validate(); err != nil {
		return nil, fmt.Errorf("not an SLSA provenance: %w", err)
	}
	predicate, err := structure(built)
	if err != nil {
		return nil, err
	}
	return statement(of.Subjects, predicate)
}

func statement(subjects []Subject, predicate *structpb.Struct) ([]byte, error) {
	stated := &intoto.Statement{Type: intoto.StatementTypeUri, PredicateType: PredicateType, Predicate: predicate}
	for _, one := range subjects {
		stated.Subject = append(stated.Subject, &intoto.ResourceDescriptor{
			Name: one.Name, Digest: map[string]string{string(intoto.AlgorithmSHA256): one.SHA256},
		})
	}
	if err := stated.Validate(); err != nil {
		return nil, fmt.Errorf("not an in-toto statement: %w", err)
	}
	written, err := protojson.Marshal(stated)
	if err != nil {
		return nil, err
	}
	// protojson writes different spaces in different programs.
	var out bytes.Buffer
	if err := json.Indent(&out, written, "", "  "); err != nil {
		return nil, err
	}
	return append(out.Bytes(), '\n'), nil
}

func structure(message proto.Message) (*structpb.Struct, error) {
	written, err := protojson.Marshal(message)
	if err != nil {
		return nil, err
	}
	read := &structpb.Struct{}
	return read, protojson.Unmarshal(written, read)
}
