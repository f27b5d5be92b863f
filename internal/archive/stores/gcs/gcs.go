// SPDX-License-Identifier: Apache-2.0

// Package gcs opens archives in Google Cloud Storage. It uses the JSON API with Google's
// small client: the large one includes gRPC's service mesh, which takes more memory than
// an idle operator.
package gcs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"
	"google.golang.org/api/storage/v1"

	"perflab.dev/perflab/internal/archive"
)

// pageSize is the maximum page size of the API.
const pageSize = 1000

// Open is an archive.Provider.
func Open(ctx context.Context, location archive.Location) (archive.Bucket, error) {
	// Tokens are also fetched after this call.
	ctx = context.WithoutCancel(ctx)
	source, err := tokens(ctx, location)
	if err != nil {
		return nil, err
	}
	options := []option.ClientOption{option.WithTokenSource(source)}
	if given := location.Client; given != nil {
		authorized := *given
		authorized.Transport = &oauth2.Transport{Source: source, Base: given.Transport}
		options = []option.ClientOption{option.WithHTTPClient(&authorized)}
	}
	if endpoint := location.Parameters[archive.ParameterEndpoint]; endpoint != "" {
		options = append(options, option.WithEndpoint(endpoint+"/storage/v1/"))
	}
	service, err := storage.NewService(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("creating the Google Cloud client: %w", err)
	}
	return &bucket{objects: service.Objects, name: location.Bucket}, nil
}

func tokens(ctx context.Context, location archive.Location) (oauth2.TokenSource, error) {
	given := location.Credentials
	if given.IsNone() {
		found, err := google.FindDefaultCredentials(ctx, storage.DevstorageReadWriteScope)
		if err != nil {
			return nil, fmt.Errorf("%w: the workload has no Google Cloud credentials: assign it a service account, or configure a Secret for the archive", archive.ErrInvalidLocation)
		}
		return found.TokenSource, nil
	}
	// Only service account keys: other kinds name programs to run and servers to call.
	read, err := google.JWTConfigFromJSON([]byte(given.Secret), storage.DevstorageReadWriteScope)
	if err != nil {
		return nil, fmt.Errorf("%w: the secret is not a service account key: use the JSON that Google created", archive.ErrInvalidLocation)
	}
	if location.Client != nil {
		// The key names the server that issues tokens.
		ctx = context.WithValue(ctx, oauth2.HTTPClient, location.Client)
	}
	return read.TokenSource(ctx), nil
}

type bucket struct {
	objects *storage.ObjectsService
	name    string
}

// Write implements archive.Bucket.
func (b *bucket) Write(ctx context.Context, key string, body []byte, how archive.WriteOptions) error {
	call := b.objects.Insert(b.name, &storage.Object{Name: key, ContentType: how.MediaType}).Context(ctx)
	if !how.Replace {
		// No object has generation 0.
		call = call.IfGenerationMatch(0)
	}
	// One request, so that an interrupted upload leaves nothing behind.
	_, err := call.Media(bytes.NewReader(body), googleapi.ChunkSize(0), googleapi.ContentType(how.MediaType)).Do()
	return convertError(err)
}

// Read implements archive.Bucket.
func (b *bucket) Read(ctx context.Context, key string, most int64) (body []byte, found archive.Object, err error) {
	// No documented header has the time of the write.
	known, err := b.objects.Get(b.name, key).Fields("size", "updated", "generation").Context(ctx).Do()
	if err != nil {
		return nil, archive.Object{}, convertError(err)
	}
	if found, err = newObject(key, known); err != nil {
		return nil, archive.Object{}, err
	}
	answer, err := b.objects.Get(b.name, key).Generation(known.Generation).Context(ctx).Download()
	if err != nil {
		return nil, archive.Object{}, convertError(err)
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	if body, err = io.ReadAll(io.LimitReader(answer.Body, most)); err != nil {
		return nil, archive.Object{}, fmt.Errorf("reading the response: %w", err)
	}
	if int64(len(body)) < min(found.Size, most) {
		return nil, archive.Object{}, fmt.Errorf("received %d of %d bytes: %w", len(body), found.Size, io.ErrUnexpectedEOF)
	}
	return body, found, nil
}

// List implements archive.Bucket.
func (b *bucket) List(ctx context.Context, prefix string, token []byte) ([]archive.Object, []byte, error) {
	listed, err := b.objects.List(b.name).Prefix(prefix).PageToken(string(token)).MaxResults(pageSize).
		Fields("nextPageToken", "items(name,size,updated)").Context(ctx).Do()
	if err != nil {
		return nil, nil, convertError(err)
	}
	objects := make([]archive.Object, 0, len(listed.Items))
	for _, one := range listed.Items {
		object, err := newObject(one.Name, one)
		if err != nil {
			return nil, nil, err
		}
		objects = append(objects, object)
	}
	if listed.NextPageToken == "" {
		return objects, nil, nil
	}
	return objects, []byte(listed.NextPageToken), nil
}

func newObject(key string, known *storage.Object) (archive.Object, error) {
	updated, err := time.Parse(time.RFC3339, known.Updated)
	if err != nil {
		// With an unknown age, a collection could remove a new object.
		return archive.Object{}, fmt.Errorf("reading when %q was written: %w", key, err)
	}
	return archive.Object{Key: key, Size: int64(known.Size), Modified: updated}, nil //nolint:gosec // No object has 8 EiB.
}

// Delete implements archive.Bucket.
func (b *bucket) Delete(ctx context.Context, key string) error {
	err := b.objects.Delete(b.name, key).Context(ctx).Do()
	if answer := serverResponse(err); answer.Status == http.StatusNotFound && answer.Code != noBucket {
		return nil
	}
	return convertError(err)
}

// Close implements archive.Bucket.
func (*bucket) Close() error { return nil }

// convertError converts an error of Google's client to an archive's.
func convertError(err error) error {
	if err == nil {
		return nil
	}
	answer := serverResponse(err)
	switch {
	case answer.Status == http.StatusPreconditionFailed, answer.Status == http.StatusConflict:
		return fmt.Errorf("%w: %w", archive.ErrExists, err)
	case answer.Status != 0:
		return &archive.ResponseError{ServerResponse: answer, Err: err}
	}
	return err
}

// noBucket is S3's code. Google reports a missing bucket only in the message.
const noBucket = "NoSuchBucket"

func serverResponse(err error) archive.ServerResponse {
	var response *googleapi.Error
	if !errors.As(err, &response) {
		return archive.ServerResponse{}
	}
	result := archive.ServerResponse{Status: response.Code}
	if len(response.Errors) > 0 {
		result.Code = response.Errors[0].Reason
	}
	if response.Code == http.StatusNotFound {
		result.Code = ""
		if strings.Contains(response.Message, "bucket does not exist") {
			result.Code = noBucket
		}
	}
	return result
}
