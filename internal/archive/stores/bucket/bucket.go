// SPDX-License-Identifier: Apache-2.0

// Package bucket lets an archive use the buckets of the Go Cloud Development Kit.
package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"perflab.dev/perflab/internal/archive"
)

// Bucket adapts a bucket of the Go CDK.
type Bucket struct {
	// Blob is the Go CDK's bucket.
	Blob *blob.Bucket
	// Put writes an object in one request; nil if the Go CDK does so itself.
	Put func(ctx context.Context, key string, body []byte, how archive.WriteOptions) error
	// Page lists a page; nil if the Go CDK is fast enough.
	Page func(ctx context.Context, prefix string, token []byte) ([]archive.Object, []byte, error)
	// Response extracts the server's response from an error; nil if there is no server.
	Response func(error) archive.ServerResponse
	// Sync makes a written object survive a power failure; nil if the store does so
	// itself.
	Sync func(key string) error
}

// Libraries retry by themselves to hide short failures, but soon, so that a request ends with
// the store's error and not with a timeout.
const (
	Tries    = 3
	Longest  = 300 * time.Millisecond
	Shortest = 50 * time.Millisecond
)

const (
	// PageSize is the maximum number of objects in a page of a list.
	PageSize = 1000
	// maxPartSize is the size up to which the libraries send an object in one request by
	// default.
	maxPartSize = 5 << 20
)

// Write implements archive.Bucket.
func (b *Bucket) Write(ctx context.Context, key string, body []byte, how archive.WriteOptions) error {
	if b.Put != nil {
		return b.convertError(b.Put(ctx, key, body, how))
	}
	options := &blob.WriterOptions{
		ContentType: how.MediaType, DisableContentTypeDetection: true, IfNotExist: !how.Replace,
		MaxConcurrency: 1,
	}
	if len(body) >= maxPartSize {
		// Still one request, so that an interrupted upload leaves no parts behind.
		options.BufferSize = len(body) + 1
	}
	if err := b.Blob.WriteAll(ctx, key, body, options); err != nil {
		return b.convertError(err)
	}
	if b.Sync == nil {
		return nil
	}
	return b.convertError(b.Sync(key))
}

// Read implements archive.Bucket.
func (b *Bucket) Read(ctx context.Context, key string, most int64) (body []byte, found archive.Object, err error) {
	reader, err := b.Blob.NewRangeReader(ctx, key, 0, -1, nil)
	if err != nil {
		return nil, archive.Object{}, b.convertError(err)
	}
	defer func() { err = errors.Join(err, b.convertError(reader.Close())) }()
	found = archive.Object{Key: key, Size: reader.Size(), Modified: reader.ModTime()}
	var buffer bytes.Buffer
	if found.Size >= 0 && found.Size <= most {
		buffer.Grow(int(found.Size))
	}
	if _, err := io.Copy(&buffer, io.LimitReader(reader, most)); err != nil {
		return nil, archive.Object{}, b.convertError(err)
	}
	if found.Size >= 0 && int64(buffer.Len()) < min(found.Size, most) {
		return nil, archive.Object{}, fmt.Errorf("received %d of %d bytes: %w", buffer.Len(), found.Size, io.ErrUnexpectedEOF)
	}
	return buffer.Bytes(), found, nil
}

// List implements archive.Bucket.
func (b *Bucket) List(ctx context.Context, prefix string, token []byte) ([]archive.Object, []byte, error) {
	if b.Page != nil {
		objects, next, err := b.Page(ctx, prefix, token)
		return objects, next, b.convertError(err)
	}
	if token == nil {
		token = blob.FirstPageToken
	}
	listed, next, err := b.Blob.ListPage(ctx, token, PageSize, &blob.ListOptions{Prefix: prefix})
	if err != nil {
		return nil, nil, b.convertError(err)
	}
	objects := make([]archive.Object, 0, len(listed))
	for _, one := range listed {
		objects = append(objects, archive.Object{Key: one.Key, Size: one.Size, Modified: one.ModTime})
	}
	return objects, next, nil
}

// Delete implements archive.Bucket.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	err := b.convertError(b.Blob.Delete(ctx, key))
	if errors.Is(err, archive.ErrNotFound) {
		return nil
	}
	return err
}

// Close implements archive.Bucket.
func (b *Bucket) Close() error { return b.Blob.Close() }

// convertError converts an error of the Go CDK to an archive's.
func (b *Bucket) convertError(err error) error {
	if err == nil {
		return nil
	}
	var answer archive.ServerResponse
	if b.Response != nil {
		answer = b.Response(err)
	}
	code := gcerrors.Code(err)
	switch {
	case answer.Status == http.StatusPreconditionFailed, answer.Status == http.StatusConflict, answer.Status == 0 && code == gcerrors.FailedPrecondition:
		return fmt.Errorf("%w: %w", archive.ErrExists, err)
	case answer.Status != 0 || answer.Code != "":
		return &archive.ResponseError{ServerResponse: answer, Err: err}
	case code == gcerrors.NotFound && b.Response == nil:
		return fmt.Errorf("%w: %w", archive.ErrNotFound, err)
	default:
		return err
	}
}
