// SPDX-License-Identifier: Apache-2.0

// Package azure opens archives in Azure Blob Storage.
package azure

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"gocloud.dev/blob/azureblob"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/stores/bucket"
)

// Open is an archive.Provider.
func Open(ctx context.Context, location archive.Location) (archive.Bucket, error) {
	account := location.Parameters[archive.ParameterAccount]
	endpoint := cmp.Or(location.Parameters[archive.ParameterEndpoint], "https://"+account+".blob.core.windows.net")
	client, err := newClient(endpoint+"/"+location.Bucket, account, location)
	if err != nil {
		return nil, err
	}
	opened, err := azureblob.OpenBucket(ctx, client, nil)
	if err != nil {
		return nil, fmt.Errorf("opening the container: %w", err)
	}
	return &bucket.Bucket{Blob: opened, Put: newPut(client), Response: serverResponse}, nil
}

// newPut writes an object in one request. The Go CDK's writer sometimes panics when an upload
// fails: it closes a pipe that another goroutine has just removed.
func newPut(client *container.Client) func(context.Context, string, []byte, archive.WriteOptions) error {
	return func(ctx context.Context, key string, body []byte, how archive.WriteOptions) error {
		written := &blockblob.UploadOptions{HTTPHeaders: &blob.HTTPHeaders{BlobContentType: &how.MediaType}}
		if !how.Replace {
			anything := azcore.ETagAny
			written.AccessConditions = &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: &anything}}
		}
		_, err := client.NewBlockBlobClient(key).Upload(ctx, streaming.NopCloser(bytes.NewReader(body)), written)
		return err //nolint:wrapcheck // The bucket explains it.
	}
}

// clientOptions make the library retry soon, and use the location's client.
func clientOptions(location archive.Location) *container.ClientOptions {
	result := &container.ClientOptions{}
	if location.Client != nil {
		result.Transport = location.Client
	}
	result.Retry = policy.RetryOptions{MaxRetries: bucket.Tries - 1, RetryDelay: bucket.Shortest, MaxRetryDelay: bucket.Longest}
	return result
}

func newClient(url, account string, location archive.Location) (*container.Client, error) {
	given := location.Credentials
	if given.IsNone() {
		found, err := azidentity.NewDefaultAzureCredential(nil)
		if err != nil {
			return nil, fmt.Errorf("%w: the workload has no Azure credentials: assign it an identity, or configure a Secret for the archive", archive.ErrInvalidLocation)
		}
		return wrapClient(container.NewClient(url, found, clientOptions(location)))
	}
	shared, err := azblob.NewSharedKeyCredential(account, given.Secret)
	if err != nil {
		return nil, fmt.Errorf("%w: the secret is not a storage account key: use the key as Azure shows it", archive.ErrInvalidLocation)
	}
	return wrapClient(container.NewClientWithSharedKeyCredential(url, shared, clientOptions(location)))
}

func wrapClient(client *container.Client, err error) (*container.Client, error) {
	if err != nil {
		return nil, fmt.Errorf("creating the Azure client: %w", err)
	}
	return client, nil
}

func serverResponse(err error) archive.ServerResponse {
	var response *azcore.ResponseError
	var unauthenticated *azidentity.AuthenticationFailedError
	switch {
	case errors.As(err, &response) && response.StatusCode >= 300:
		return archive.ServerResponse{Status: response.StatusCode, Code: response.ErrorCode}
	case errors.As(err, &unauthenticated):
		return archive.ServerResponse{Code: "AuthenticationFailed"}
	}
	return archive.ServerResponse{}
}
