// SPDX-License-Identifier: Apache-2.0

package fit_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/internal/kube/fit"
	"perflab.dev/perflab/internal/testing/expect"
)

// The API server accepts any status after truncation, and a second truncation omits nothing
// more.
//
// This is no fuzz test: its input would be only the seed, which coverage does not guide, and
// instrumented code is about ten times as slow.
func TestAnyStatusFits(t *testing.T) {
	for seed := range uint64(40) {
		for name, status := range statuses() {
			random := &made{rand.New(rand.NewPCG(seed, 0)), 0} //nolint:gosec // A test that is the same each time.
			random.items = items[random.IntN(len(items))]
			random.fill(reflect.ValueOf(status.value).Elem())
			_, err := status.fit()
			expect.NoError(t, err, "fitting a status of %s from seed %d", name, seed)
			if faults := status.refused(t); len(faults) > 0 {
				t.Errorf("%s from seed %d: the API server refuses %d things: %s", name, seed, len(faults), faults[0])
			}
			if size := len(encoded(t, status.value)); size > fit.MaxBytes {
				t.Errorf("%s from seed %d: the status takes %d bytes", name, seed, size)
			}
			was := encoded(t, status.value)
			leftOut, err := status.fit()
			expect.NoError(t, err)
			if is := encoded(t, status.value); leftOut != "" || is != was {
				t.Errorf("%s from seed %d: of what fits was left out: %q", name, seed, leftOut)
			}
		}
	}
}

// made fills values with possible content of logs, clusters and clocks. All lists of a
// status share a number of items, or nested lists would multiply the size.
type made struct {
	*rand.Rand
	items int
}

var (
	texts = []string{
		"", "a", "True", "Ready", "mod-users", "2026-01-02T03:04:05Z", "\x00\xff", "🦀🦀", "not one word", "-1", "1.797e308", "NaN", "../../etc", "\"{}[],",
		strings.Repeat("x", 253), strings.Repeat("ü", 700), strings.Repeat("🦀", 600), strings.Repeat("\xff", 1500), strings.Repeat("<", 9000),
	}
	whole  = []int64{0, 1, -1, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64}
	years  = []int{-1, 0, 1, 1970, 2026, 9999, 10_000, 292_277_026}
	length = []int{0, 1, 2, 9, 21, 110}
	items  = []int{5, 30, 30, 30, 30, 2000}
)

func (m *made) fill(value reflect.Value) {
	switch to := value.Addr().Interface().(type) {
	case *metav1.Time:
		to.Time = time.Date(years[m.IntN(len(years))], 12, 31, 23, 59, 59, 999_999_999, time.FixedZone("", 3600*(m.IntN(25)-12)))
		return
	case *metav1.MicroTime:
		to.Time = time.Date(years[m.IntN(len(years))], 12, 31, 23, 59, 59, 999_999_999, time.UTC)
		return
	case *metav1.Duration:
		to.Duration = time.Duration(whole[m.IntN(len(whole))])
		return
	case *resource.Quantity:
		*to = *resource.NewQuantity(whole[m.IntN(len(whole))], resource.BinarySI)
		return
	}
	switch value.Kind() {
	case reflect.Struct:
		for _, i := range m.Perm(value.NumField()) {
			m.fill(value.Field(i))
		}
	case reflect.Pointer:
		if m.IntN(4) > 0 {
			value.Set(reflect.New(value.Type().Elem()))
			m.fill(value.Elem())
		}
	case reflect.Slice:
		count := min(length[m.IntN(len(length))], m.items)
		m.items -= count
		value.Set(reflect.MakeSlice(value.Type(), count, count))
		for i := range count {
			m.fill(value.Index(i))
		}
	case reflect.String:
		value.SetString(texts[m.IntN(len(texts))])
	case reflect.Bool:
		value.SetBool(m.IntN(2) == 0)
	case reflect.Int32, reflect.Int64:
		number := whole[m.IntN(len(whole))]
		if value.OverflowInt(number) {
			number = 7
		}
		value.SetInt(number)
	default:
		panic("a status holds a " + value.Kind().String())
	}
}
