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

// What can go wrong with an archive.
var (
	// ErrAway: the store does not answer, or not now. Waiting helps.
	ErrAway = errors.New("the archive is away")
	// ErrForbidden: it does not let us. Somebody has to give a right, or other credentials.
	ErrForbidden = errors.New("the archive forbids it")
	// ErrFull: somebody has to make room, or to raise a quota.
	ErrFull = errors.New("the archive is full")
	// ErrNotFound: there is no such object, or no such bucket.
	ErrNotFound = errors.New("not in the archive")
	// ErrMismatch: what the store has, or gave, is not what was written.
	ErrMismatch = errors.New("the archive has other bytes")
	// ErrTooLarge: it is more than an archive takes as one object.
	ErrTooLarge = errors.New("too large for the archive")
	// ErrLocation: the declaration of the archive can't be right.
	ErrLocation = errors.New("not a location of an archive")
	// ErrRecord: what is to be kept can't be right.
	ErrRecord = errors.New("not a record")
	// ErrUnknown: the manifest is of a later version of PerfLab.
	ErrUnknown = errors.New("not a manifest this version knows")
)

// ErrExists is what a [Bucket] says of a write that found an object, or another
// write, in its place. Callers of a [Store] don't see it.
var ErrExists = errors.New("there is an object of that name")

// Error is what went wrong with an object of a store.
type Error struct {
	// Is one of the sentinels.
	Is error
	// Store as a person wrote it; it holds no credentials.
	Store string
	// Doing what, with which object: "writing", "reading", "listing", "deleting".
	Doing, Object string
	// Why in a few words that don't change from try to try.
	Why string
	// Advice says what to do.
	Advice string
	// isPlace that is not there, and not just an object of it.
	isPlace bool
	// says is what the library said: see [Store.Detail].
	says error
}

// IsOne reports whether an error is one of an archive, and not of who asks it.
func IsOne(err error) bool {
	var explained *Error
	return errors.As(err, &explained) || errors.Is(err, ErrRecord)
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s %s in the archive %s: %s; %s", e.Doing, e.Object, e.Store, e.Why, e.Advice)
}

// Unwrap gives the sentinel alone: what the library said may hold what is not to be told.
func (e *Error) Unwrap() error { return e.Is }

// Answer is what a store's server said to a request, as far as its library tells.
type Answer struct {
	// Status of HTTP; 0: there was no answer.
	Status int
	// Code is the store's own word: NoSuchBucket.
	Code string
}

// Answered is an error with what the store's server said. A [Bucket] gives it.
type Answered struct {
	Answer
	Err error
}

func (a *Answered) Error() string { return fmt.Sprintf("%d %s: %v", a.Status, a.Code, a.Err) }

// Unwrap gives the library's error.
func (a *Answered) Unwrap() error { return a.Err }

// Codes that say more than their status does. Who says them: Amazon, Ceph, MinIO,
// Google and Azure.
var (
	fullCodes = []string{
		"QuotaExceeded", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "InsufficientStorage", "StorageFull",
		"TotalStorageQuotaExceeded", "quotaExceeded", "storageQuotaExceeded", "AccountQuotaExceeded",
	}
	awayCodes = []string{
		"SlowDown", "Throttling", "ThrottlingException", "RequestTimeout", "RequestTimeTooSkewed", "ServerBusy", "OperationTimedOut",
		"InternalError", "rateLimitExceeded", "userRateLimitExceeded", "OperationAborted", "RequestLimitExceeded",
		// What arrived is not what was sent, and was not stored.
		"BadDigest", "InvalidDigest", "IncompleteBody", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch", "Md5Mismatch",
	}
	forbiddenCodes = []string{
		"AccessDenied", "Forbidden", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "AccountProblem",
		"AuthenticationFailed", "AuthorizationFailure", "AuthorizationPermissionMismatch", "AllAccessDisabled", "NotSignedUp",
		"TokenRefreshRequired", "InvalidClientTokenId", "XAdminUserNotFound",
	}
	// Any other 404 is of something between, or of another place.
	absentCodes    = []string{"", "NoSuchKey", "NotFound", "BlobNotFound", "notFound"}
	elsewhereCodes = []string{
		"PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "InvalidBucketName", "InvalidResourceName",
	}
)

// movedStatuses are of a store that is elsewhere. No redirect is followed.
var movedStatuses = []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusPermanentRedirect}

// Advices by what went wrong.
var advices = map[error]string{
	ErrAway:      "it is tried again: see that the store is up and can be reached from here",
	ErrForbidden: "see that the credentials are right and may list, read and write there",
	ErrFull:      "make room in the store or raise its quota; it is tried again",
	ErrMismatch:  "nothing was taken from it and nothing was overwritten: compare the object with sha256sum and, if it is damaged, restore or delete it",
	ErrLocation:  "correct the archive's URL",
}

// explain makes the error of a store of what its library said.
func (s *Store) explain(doing, object string, err error) error {
	why, is := s.classify(err)
	advice := advices[is]
	if errors.Is(is, ErrNotFound) {
		advice = "see that it was not deleted, and that the URL names the right bucket and prefix"
	}
	return &Error{Is: is, Store: s.name, Doing: doing, Object: object, Why: why, Advice: advice, isPlace: why == whyNoBucket, says: err}
}

// mismatch is the error of an object that is not what it has to be.
func (s *Store) mismatch(object, why string) error {
	return &Error{Is: ErrMismatch, Store: s.name, Doing: "reading", Object: object, Why: why, Advice: advices[ErrMismatch]}
}

const whyNoBucket = "the store has no such bucket"

// isAbsent: an object is not there, in a bucket that is.
func isAbsent(err error) bool {
	var explained *Error
	return errors.As(err, &explained) && errors.Is(explained, ErrNotFound) && !explained.isPlace
}

// denied is the error of a client that may not connect to the store.
type denied interface {
	error
	// Denied is what kind of address the store has.
	Denied() string
}

// classify says why in stable words, and which of the sentinels it is.
func (s *Store) classify(err error) (why string, is error) {
	var answered *Answered
	if errors.As(err, &answered) && (answered.Status != 0 || answered.Code != "") {
		return answered.classify()
	}
	var refused denied
	switch {
	case errors.Is(err, ErrMismatch):
		return "it is larger than any object of an archive", ErrMismatch
	case errors.Is(err, ErrNotFound):
		return "it is not there", ErrNotFound
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "there is no space left", ErrFull
	case errors.As(err, &refused):
		return "its address is " + refused.Denied() + ", and --allow-targets does not name it", ErrLocation
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EROFS):
		return "the directory may not be written or read", ErrForbidden
	default:
		return s.unreachable(err), ErrAway
	}
}

func (a Answer) classify() (why string, is error) {
	said := fmt.Sprintf("the store answers %d", a.Status)
	if a.Code != "" {
		said = fmt.Sprintf("the store answers %d %s", a.Status, a.Code)
	}
	switch {
	case a.Code == "NoSuchBucket" || a.Code == "ContainerNotFound":
		return whyNoBucket, ErrNotFound
	case a.Status == http.StatusInsufficientStorage, slices.Contains(fullCodes, a.Code):
		return said, ErrFull
	case slices.Contains(awayCodes, a.Code):
		return said, ErrAway
	case a.Status == http.StatusNotFound && slices.Contains(absentCodes, a.Code):
		return "it is not there", ErrNotFound
	case a.Status == http.StatusUnauthorized, a.Status == http.StatusForbidden, slices.Contains(forbiddenCodes, a.Code):
		return said, ErrForbidden
	case a.Status == http.StatusNotImplemented:
		return said + ", and so can't write only what is not there yet", ErrLocation
	case slices.Contains(movedStatuses, a.Status), slices.Contains(elsewhereCodes, a.Code):
		return said + ", as it does for another region or endpoint than the bucket's", ErrLocation
	default:
		return said, ErrAway
	}
}

// unreachable says why there was no answer.
func (s *Store) unreachable(err error) string {
	var resolving *net.DNSError
	var unknown x509.UnknownAuthorityError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var waited net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &waited) && waited.Timeout():
		return "it does not answer within " + s.options.Timeout.Round(time.Millisecond).String()
	case errors.As(err, &resolving):
		return "its name does not resolve"
	case errors.As(err, &unknown), errors.As(err, &certificate):
		return "its certificate is not trusted here"
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "it does not speak TLS"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "it refuses the connection"
	case brokeOff(err):
		return "it breaks off"
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EIO), errors.Is(err, syscall.ESTALE):
		return "its directory can't be read"
	default:
		return "it can't be asked"
	}
}

// brokeOff: the connection ended before the answer did. Which of these is said depends
// on whether the reading or the writing half of a connection saw it first:
// [net.ErrClosed] is the writing one, after the reading one has closed it.
func brokeOff(err error) bool {
	return slices.ContainsFunc([]error{
		io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED, net.ErrClosed,
	}, func(end error) bool { return errors.Is(err, end) })
}

// Detail is what the library said of an error, for a log of the operator: it has
// names of requests in it and changes from try to try. The secrets of the store's
// credentials are left out.
func (s *Store) Detail(err error) string {
	var explained *Error
	if !errors.As(err, &explained) || explained.says == nil {
		return ""
	}
	return s.secrets.hide(explained.says.Error())
}
