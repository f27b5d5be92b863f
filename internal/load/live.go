// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/payload"
)

// maxProgressTransactions is the number of shown transactions.
const maxProgressTransactions = 8

// maxRecords is the largest integer that a float represents exactly.
const maxRecords = 1 << 53

// maxLogLineBytes bounds a quoted log line, in bytes.
const maxLogLineBytes = 400

// LastLogLine returns k6's last error line, or else its last line; empty if there is none.
func LastLogLine(lines []payload.LogLine) string {
	last := ""
	for _, line := range slices.Backward(lines) {
		if line.IsError() {
			return truncateLogLine(line.Text)
		}
		if last == "" {
			last = line.Text
		}
	}
	return truncateLogLine(last)
}

func truncateLogLine(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxLogLineBytes)], "")
}

// AddProgress sums the progress of a load's runners. It uses the percentiles of the slowest
// runner, because percentiles don't add up.
func AddProgress(reports []payload.Progress, read time.Time) *v1alpha1.LoadProgress {
	var sum payload.Progress
	var errors float64
	p95 := map[string]float64{}
	for _, report := range reports {
		sum.Users += report.Users
		sum.RequestsPerSecond += report.RequestsPerSecond
		sum.Requests += report.Requests
		errors += report.ErrorPercent * float64(report.Requests)
		for transaction, milliseconds := range report.P95 {
			p95[transaction] = math.Max(p95[transaction], milliseconds)
		}
		if report.Records != nil {
			sum.Records = new(*report.Records + orZero(sum.Records))
		}
	}
	if sum.Requests > 0 {
		sum.ErrorPercent = errors / float64(sum.Requests)
	}
	progress := &v1alpha1.LoadProgress{
		Time:              metav1.NewTime(read),
		Users:             int32(min(max(sum.Users, 0), math.MaxInt32)),
		RequestsPerSecond: short(sum.RequestsPerSecond),
		ErrorPercent:      short(sum.ErrorPercent),
	}
	for _, transaction := range slices.Sorted(maps.Keys(p95)) {
		if len(progress.P95) < maxProgressTransactions {
			progress.P95 = append(progress.P95, v1alpha1.TransactionProgress{Transaction: transaction, Milliseconds: short(p95[transaction])})
		}
	}
	if sum.Records != nil {
		progress.Records = new(int64(min(max(*sum.Records, 0), maxRecords)))
	}
	return progress
}

func orZero(value *float64) float64 {
	if value == nil {
		return 0
	}
	return *value
}

// short formats a value with few digits.
func short(value float64) string {
	switch {
	case value >= 100:
		return decimal.Format(math.Round(value))
	case value >= 1:
		return decimal.Format(math.Round(value*10) / 10)
	default:
		return decimal.Format(math.Round(value*100) / 100)
	}
}

// live describes the last progress of a load.
func live(load v1alpha1.Load, progress *v1alpha1.LoadProgress) string {
	if progress == nil {
		return ""
	}
	parts := []string{kinds.ForLoad(load).Progress(progress)}
	if progress.ErrorPercent != "0" {
		parts = append(parts, progress.ErrorPercent+" % errors")
	}
	if kinds.IsBatch(load) {
		// Its transactions are few, and each is the work of minutes.
		return strings.Join(parts, ", ")
	}
	for _, p95 := range progress.P95 {
		parts = append(parts, fmt.Sprintf("%s p95 %s ms", p95.Transaction, p95.Milliseconds))
	}
	return strings.Join(parts, ", ")
}
