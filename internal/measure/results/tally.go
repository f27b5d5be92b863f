// SPDX-License-Identifier: Apache-2.0

package results

import (
	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/payload"
)

// Tally is the number of a load's requests and checks in the counted window. k6's own summary can't
// be cut: there it is the whole test.
type Tally struct {
	Requests, Checks Share
}

// Share is the number of requests or checks, and of failed ones.
type Share struct {
	Count, Failed int64
}

// TallyOf counts a load's requests and checks.
func TallyOf(load v1alpha1.Load, measured map[string]Measured, measurement v1alpha1.Measurement) Tally {
	own := measured[load.Name]
	if own.Summary != nil {
		return own.Summary.tally()
	}
	window := Whole(load, measured, measurement)
	return tallyOf(own.Histograms.Between(window.From, window.To))
}

// tallyOf uses counters, which payloads of all versions have.
func tallyOf(p *payload.Payload) Tally {
	passed, failed := int64(p.Total(metricChecksPassed)), int64(p.Total(metricChecksFailed))
	return Tally{
		Requests: Share{Count: int64(p.Total(metricRequests)), Failed: int64(p.Total(metricRequestFailed))},
		Checks:   Share{Count: passed + failed, Failed: failed},
	}
}

func (s *Summary) tally() Tally {
	return Tally{
		Requests: Share{Count: int64(s.Requests), Failed: int64(s.FailedRequests)},
		Checks:   Share{Count: int64(s.Checks), Failed: int64(s.FailedChecks)},
	}
}

// Status returns the share for a run's status; nil if nothing was counted.
func (s Share) Status() *v1alpha1.FailedShare {
	if s.Count == 0 {
		return nil
	}
	return &v1alpha1.FailedShare{Count: s.Count, FailedPercent: decimal.Format(s.percent())}
}

func (s Share) percent() float64 { return percent(float64(s.Failed), float64(s.Count)) }

// checkRequests judges a load by its requests and its checks.
func checkRequests(load string, tally Tally, validity v1alpha1.Validity) *Fault {
	for _, judged := range []struct {
		what, limit string
		share       Share
		max         int32
		remedy      string
	}{
		{
			"requests", "maxFailedRequestsPercent", tally.Requests, validity.MaxFailedRequestsPercentOrDefault(),
			"see the responses with perflab logs; if the script expects them, declare them with http.setResponseCallback, or raise the limit (100: any share)",
		},
		{
			"checks", "maxFailedChecksPercent", tally.Checks, validity.MaxFailedChecksPercentOrDefault(),
			"see the responses with perflab logs; if checks are expected to fail, raise the limit (100: any share)",
		},
	} {
		if share := judged.share.percent(); share > float64(judged.max) {
			return kind.Faultf(v1alpha1.ReasonTooManyErrors, "load %q: %d of %d %s failed (%s %%), more than the %d %% that validity.%s allows: %s",
				load, judged.share.Failed, judged.share.Count, judged.what, decimal.Format(share), judged.max, judged.limit, judged.remedy)
		}
	}
	return nil
}
