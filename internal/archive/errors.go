// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"syscall"
	"time"
)

// Kinds of errors.
var (
	// ErrUnavailable means that the store does not respond. A retry may help.
	ErrUnavailable = errors.New("the archive is unavailable")
	// ErrForbidden means that rights or credentials are missing.
	ErrForbidden = errors.New("the archive denies access")
	// ErrFull means that a quota or the storage is exhausted.
	ErrFull = errors.New("the archive is full")
	// ErrNotFound means that the object or the bucket does not exist.
	ErrNotFound = errors.New("not in the archive")
	// ErrMismatch means that the store has other bytes than were written.
	ErrMismatch = errors.New("the archive has different content")
	// ErrTooLarge means that an object exceeds the maximum size.
	ErrTooLarge = errors.New("too large for the archive")
	// ErrInvalidLocation means that the declaration of the archive is invalid.
	ErrInvalidLocation = errors.New("invalid archive location")
	// ErrInvalidRecord means that a record is invalid.
	ErrInvalidRecord = errors.New("invalid record")
	// ErrUnknownManifest means that a later version of PerfLab wrote the manifest.
	ErrUnknownManifest = errors.New("not a manifest that this version can read")
)

// ErrExists is the error of [Bucket.Write] if the object exists. A [Store] handles it.
var ErrExists = errors.New("the object already exists")

// Error of an operation on an object.
type Error struct {
	// Kind is one of the sentinels.
	Kind error
	// Store is the URL of the archive, without credentials.
	Store string
	// Operation on the object: "writing", "reading", "listing", "deleting".
	Operation, Object string
	// Reason is a short text that is stable between retries.
	Reason string
	// Advice on fixing the problem.
	Advice string
	// isBucket means that the bucket is missing, and not only an object.
	isBucket bool
	// cause is the library's error: see [Store.Detail].
	cause error
}

// IsError reports whether an error is one of an archive, and not of its caller.
func IsError(err error) bool {
	var explained *Error
	return errors.As(err, &explained) || errors.Is(err, ErrInvalidRecord)
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s %s in the archive %s: %s; %s", e.Operation, e.Object, e.Store, e.Reason, e.Advice)
}

// Unwrap returns only the sentinel: the library's error may contain secrets.
func (e *Error) Unwrap() error { return e.Kind }

// ServerResponse is the server's response to a request, as far as the library exposes it.
type ServerResponse struct {
	// Status of HTTP; 0: no response.
	Status int
	// Code of the store, such as NoSuchBucket.
	Code string
}

// ResponseError is an error with the server's response. A [Bucket] returns it.
type ResponseError struct {
	ServerResponse
	Err error
}

func (a *ResponseError) Error() string { return fmt.Sprintf("%d %s: %v", a.Status, a.Code, a.Err) }

// Unwrap returns the library's error.
func (a *ResponseError) Unwrap() error { return a.Err }

// Codes that are more specific than their status, of Amazon, Ceph, MinIO, Google and Azure.
var (
	fullCodes = []string{
		"QuotaExceeded", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "InsufficientStorage", "StorageFull",
		"TotalStorageQuotaExceeded", "quotaExceeded", "storageQuotaExceeded", "AccountQuotaExceeded",
	}
	awayCodes = []string{
		"SlowDown", "Throttling", "ThrottlingException", "RequestTimeout", "RequestTimeTooSkewed", "ServerBusy", "OperationTimedOut",
		"InternalError", "rateLimitExceeded", "userRateLimitExceeded", "OperationAborted", "RequestLimitExceeded",
		// The received bytes differ from those sent, and were not stored.
		"BadDigest", "InvalidDigest", "IncompleteBody", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch", "Md5Mismatch",
	}
	forbiddenCodes = []string{
		"AccessDenied", "Forbidden", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "AccountProblem",
		"AuthenticationFailed", "AuthorizationFailure", "AuthorizationPermissionMismatch", "AllAccessDisabled", "NotSignedUp",
		"TokenRefreshRequired", "InvalidClientTokenId", "XAdminUserNotFound",
	}
	// Any other 404 is from a proxy or of another resource.
	absentCodes    = []string{"", "NoSuchKey", "NotFound", "BlobNotFound", "notFound"}
	elsewhereCodes = []string{
		"PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "InvalidBucketName", "InvalidResourceName",
	}
)

// movedStatuses are of a store at another address. Redirects are not followed.
var movedStatuses = []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusPermanentRedirect}

// advice by the kind of error.
var advice = map[error]string{
	ErrUnavailable:     "check that the store is running and reachable from here; PerfLab retries",
	ErrForbidden:       "check that the credentials are correct and allow listing, reading and writing",
	ErrFull:            "make room in the store or raise its quota; PerfLab retries",
	ErrMismatch:        "PerfLab used none of it and overwrote nothing: compare the object with sha256sum and, if it is damaged, restore or delete it",
	ErrInvalidLocation: "correct the archive's URL",
}

// explain converts the library's error.
func (s *Store) explain(doing, object string, err error) error {
	why, is := s.classify(err)
	advice := advice[is]
	if errors.Is(is, ErrNotFound) {
		advice = "check that it was not deleted, and that the URL names the right bucket and prefix"
	}
	return &Error{Kind: is, Store: s.name, Operation: doing, Object: object, Reason: why, Advice: advice, isBucket: why == whyNoBucket, cause: err}
}

// mismatch is the error of an object with unexpected content.
func (s *Store) mismatch(object, why string) error {
	return &Error{Kind: ErrMismatch, Store: s.name, Operation: "reading", Object: object, Reason: why, Advice: advice[ErrMismatch]}
}

const whyNoBucket = "the bucket does not exist"

// isAbsent reports whether an object is missing in an existing bucket.
func isAbsent(err error) bool {
	var explained *Error
	return errors.As(err, &explained) && errors.Is(explained, ErrNotFound) && !explained.isBucket
}

// deniedError is the error of a client whose egress rules deny the connection.
type deniedError interface {
	error
	// Denied is the kind of the denied address.
	Denied() string
}

// classify returns a stable reason and the kind of an error.
func (s *Store) classify(err error) (why string, is error) {
	var answered *ResponseError
	if errors.As(err, &answered) && (answered.Status != 0 || answered.Code != "") {
		return answered.classify()
	}
	var refused deniedError
	switch {
	case errors.Is(err, ErrMismatch):
		return "it exceeds the maximum size of an archive object", ErrMismatch
	case errors.Is(err, ErrNotFound):
		return "it does not exist", ErrNotFound
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "there is no space left", ErrFull
	case errors.As(err, &refused):
		return "the store's address is " + refused.Denied() + ", which --allow-targets does not list", ErrInvalidLocation
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EROFS):
		return "PerfLab may not read or write the directory", ErrForbidden
	default:
		return s.unreachable(err), ErrUnavailable
	}
}

func (a ServerResponse) classify() (why string, is error) {
	message := fmt.Sprintf("the store returned %d", a.Status)
	if a.Code != "" {
		message = fmt.Sprintf("the store returned %d %s", a.Status, a.Code)
	}
	switch {
	case a.Code == "NoSuchBucket" || a.Code == "ContainerNotFound":
		return whyNoBucket, ErrNotFound
	case a.Status == http.StatusInsufficientStorage, slices.Contains(fullCodes, a.Code):
		return message, ErrFull
	case slices.Contains(awayCodes, a.Code):
		return message, ErrUnavailable
	case a.Status == http.StatusNotFound && slices.Contains(absentCodes, a.Code):
		return "it does not exist", ErrNotFound
	case a.Status == http.StatusUnauthorized, a.Status == http.StatusForbidden, slices.Contains(forbiddenCodes, a.Code):
		return message, ErrForbidden
	case a.Status == http.StatusNotImplemented:
		return message + ": it does not support conditional writes", ErrInvalidLocation
	case slices.Contains(movedStatuses, a.Status), slices.Contains(elsewhereCodes, a.Code):
		return message + ": the bucket may be in another region or at another endpoint", ErrInvalidLocation
	default:
		return message, ErrUnavailable
	}
}

// unreachable describes why there was no response.
func (s *Store) unreachable(err error) string {
	var resolving *net.DNSError
	var unknown x509.UnknownAuthorityError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var waited net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &waited) && waited.Timeout():
		return "the store does not respond within " + s.options.Timeout.Round(time.Millisecond).String()
	case errors.As(err, &resolving):
		return "the store's host name does not resolve"
	case errors.As(err, &unknown), errors.As(err, &certificate):
		return "the store's certificate is not trusted"
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "the store does not use TLS"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the store refuses the connection"
	case isConnectionLost(err):
		return "the connection was lost"
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EIO), errors.Is(err, syscall.ESTALE):
		return "the store's directory can't be read"
	default:
		return "the store can't be reached"
	}
}

// isConnectionLost reports whether the connection ended before the response. The error depends
// on which half of the connection detected it: [net.ErrClosed] is the writing one, after the
// reading half closed it.
func isConnectionLost(err error) bool {
	return slices.ContainsFunc([]error{
		io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED, net.ErrClosed,
	}, func(end error) bool { return errors.Is(err, end) })
}

// Detail is the library's error for the operator's log. It may have request IDs and changes
// between retries. The credentials' secrets are removed.
func (s *Store) Detail(err error) string {
	var explained *Error
	if !errors.As(err, &explained) || explained.cause == nil {
		return ""
	}
	return s.secrets.hide(explained.cause.Error())
}
