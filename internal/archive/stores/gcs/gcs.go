// SPDX-License-Identifier: Apache-2.0

// Package gcs opens archives in Google Cloud Storage.
package gcs

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"cloud.google.com/go/storage"
	"github.com/googleapis/gax-go/v2"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcp"
	"golang.org/x/oauth2/google"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/stores/bucket"
)

// Open is an archive.Provider.
func Open(ctx context.Context, location archive.Location) (archive.Bucket, error) {
	// A token is fetched for longer than this call lasts.
	source, err := tokens(context.WithoutCancel(ctx), location.Credentials)
	if err != nil {
		return nil, err
	}
	client, err := gcp.NewHTTPClient(gcp.DefaultTransport(), source)
	if err != nil {
		return nil, fmt.Errorf("making Google's client: %w", err)
	}
	options := &gcsblob.Options{}
	if endpoint := location.Parameters[archive.ParameterEndpoint]; endpoint != "" {
		options.ClientOptions = append(options.ClientOptions, option.WithEndpoint(endpoint+"/storage/v1/"))
	}
	opened, err := gcsblob.OpenBucket(ctx, client, location.Bucket, options)
	if err != nil {
		return nil, fmt.Errorf("opening the bucket: %w", err)
	}
	var inner *storage.Client
	if opened.As(&inner) {
		inner.SetRetry(storage.WithMaxAttempts(bucket.Tries), storage.WithBackoff(gax.Backoff{Initial: bucket.Shortest, Max: bucket.Longest}))
	}
	return &bucket.Bucket{Blob: opened, Answer: answer}, nil
}

func tokens(ctx context.Context, given archive.Credentials) (gcp.TokenSource, error) {
	if given.IsNone() {
		found, err := gcp.DefaultCredentials(ctx)
		if err != nil {
			return nil, fmt.Errorf("%w: the workload has no credentials of Google's: give it a service account, or the archive a Secret", archive.ErrLocation)
		}
		return gcp.CredentialsTokenSource(found), nil
	}
	// Only a key of a service account: other kinds name programs to run and servers to ask.
	read, err := google.JWTConfigFromJSON([]byte(given.Secret), storage.ScopeReadWrite)
	if err != nil {
		return nil, fmt.Errorf("%w: the secret is no key of a service account: give the JSON that Google made", archive.ErrLocation)
	}
	return read.TokenSource(ctx), nil
}

func answer(err error) archive.Answer {
	var said *googleapi.Error
	switch {
	case errors.As(err, &said):
		result := archive.Answer{Status: said.Code}
		if len(said.Errors) > 0 {
			result.Code = said.Errors[0].Reason
		}
		return result
	case errors.Is(err, storage.ErrBucketNotExist):
		return archive.Answer{Status: http.StatusNotFound, Code: "NoSuchBucket"}
	case errors.Is(err, storage.ErrObjectNotExist):
		return archive.Answer{Status: http.StatusNotFound}
	}
	return archive.Answer{}
}
