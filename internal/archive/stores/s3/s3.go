// SPDX-License-Identifier: Apache-2.0

// Package s3 opens archives in Amazon S3 and compatible stores.
package s3

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	gcaws "gocloud.dev/aws"
	"gocloud.dev/blob/s3blob"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/stores/bucket"
)

// defaultRegion is for stores without regions.
const defaultRegion = "us-east-1"

// Open is an archive.Provider.
func Open(ctx context.Context, location archive.Location) (archive.Bucket, error) {
	given := location.Parameters
	endpoint := given[archive.ParameterEndpoint]
	region := given[archive.ParameterRegion]
	if region == "" && endpoint != "" {
		region = defaultRegion
	}
	query := url.Values{
		// An archive verifies reads with its own digests.
		"response_checksum_validation": {"when_required"},
		"request_checksum_calculation": {cmp.Or(given[archive.ParameterChecksums], "when_supported")},
	}
	if region != "" {
		query.Set("region", region)
	}
	config, err := gcaws.V2ConfigFromURLParams(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("loading the configuration of the S3 client: %w", err)
	}
	if config.Region == "" {
		return nil, fmt.Errorf("%w: it does not name the bucket's region: add ?region= and the region's name", archive.ErrInvalidLocation)
	}
	if own := location.Credentials; !own.IsNone() {
		config.Credentials = credentials.NewStaticCredentialsProvider(own.ID, own.Secret, own.Token)
	}
	config.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(options *retry.StandardOptions) {
			options.MaxAttempts, options.MaxBackoff, options.RateLimiter = bucket.Tries, bucket.Longest, ratelimit.None
		})
	}
	client := s3.NewFromConfig(config, func(options *s3.Options) {
		options.UsePathStyle = given[archive.ParameterPathStyle] == "true"
		if endpoint != "" {
			options.BaseEndpoint = aws.String(endpoint)
		}
		if location.Client != nil {
			options.HTTPClient = location.Client
		}
	})
	opened, err := s3blob.OpenBucket(ctx, client, location.Bucket, &s3blob.Options{RequestChecksumCalculation: config.RequestChecksumCalculation})
	if err != nil {
		return nil, fmt.Errorf("opening the bucket: %w", err)
	}
	return &bucket.Bucket{Blob: opened, Put: put(client, location.Bucket), Response: serverResponse}, nil
}

// put writes in one request. From 16 MB on, the Go CDK uploads in parts, and the parts of
// an interrupted upload remain and are charged. Keys of an archive's objects need no
// escaping.
func put(client *s3.Client, name string) func(context.Context, string, []byte, archive.WriteOptions) error {
	return func(ctx context.Context, key string, body []byte, how archive.WriteOptions) error {
		input := &s3.PutObjectInput{Bucket: &name, Key: &key, Body: bytes.NewReader(body), ContentLength: aws.Int64(int64(len(body)))}
		if how.MediaType != "" {
			input.ContentType = &how.MediaType
		}
		if !how.Replace {
			input.IfNoneMatch = aws.String("*")
		}
		_, err := client.PutObject(ctx, input)
		return err
	}
}

func serverResponse(err error) archive.ServerResponse {
	var response archive.ServerResponse
	var coded smithy.APIError
	if errors.As(err, &coded) {
		response.Code = coded.ErrorCode()
	}
	var answered interface{ HTTPStatusCode() int }
	if errors.As(err, &answered) {
		response.Status = answered.HTTPStatusCode()
	}
	if response.Status < 300 {
		// The response was a success but incomplete, or there was none.
		return archive.ServerResponse{}
	}
	return response
}
