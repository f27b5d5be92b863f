// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"perflab.dev/perflab/k6/internal/k6test"
)

// pacing makes many iterations at a desk. Its gateway responds immediately, and its user records
// pauses instead of sleeping.
const pacing = `
import { Counter } from 'k6/metrics';
import { Desk } from 'LIB/desk.js';
import { Items } from 'LIB/items.js';
import { generator } from 'LIB/random.js';
import { releases } from 'LIB/releases.js';
import { Share } from 'LIB/shares.js';
import { Think } from 'LIB/think.js';

export const options = { vus: 1, iterations: 1 };
const total = new Counter('slept');
const squares = new Counter('slept_squared');
const checkIns = new Counter('check_ins');
const tooLong = new Counter('too_long');

const answers = {
  '/inventory/items': { items: [{ id: 'item' }] },
  '/users': { users: [{ id: 'patron', patronGroup: 'group' }] },
};
const okapi = {
  preflight() {}, get() {},
  getJson: (path) => answers[path],
  post(path) {
    if (path.includes('check-in')) checkIns.add(1);
    return { item: {}, userId: 'patron' };
  },
};

export default function () {
  const random = generator('7/1');
  const barcodes = Array.from({ length: 10000 }, (_, i) => String(i));
  let slept = 0;
  const think = new Think(4, random, (seconds) => {
    // The longest share is 0.4 of the mean, and uniform between 0 and twice that.
    if (seconds < 0 || seconds > 2 * 0.4 * 4) tooLong.add(1);
    slept += seconds;
  });
  const items = new Items(new Share(barcodes, 0, 1), new Share([], 0, 1), random);
  const desk = new Desk({ okapi, think, random, items, patrons: ['p'], servicePointId: 's', release: releases[2023], checkInPercent: 43 });
  for (let i = 0; i < 20000; i++) {
    slept = 0;
    desk.serve();
    total.add(slept);
    squares.add(slept * slept);
  }
}
`

func TestThinkTimeAndRandomnessMatchDocs(t *testing.T) {
	t.Parallel()
	lib, err := filepath.Abs("lib")
	k6test.NoError(t, err)
	script := k6test.Script(t, strings.ReplaceAll(pacing, "LIB", "file://"+lib))
	result := k6test.Run(t, script, environment("http://unused"))
	if result.Code != 0 {
		t.Fatalf("exit code %d\n%s", result.Code, result.Stderr)
	}
	p := result.Payload(t)
	const n = 20000
	mean := p.Total("slept") / n
	deviation := math.Sqrt(p.Total("slept_squared")/n - mean*mean)
	// Uniform pauses of 0.15 (five times) and 0.25 of the mean, or of 0.2 (three
	// times) and 0.4, have a standard deviation of 0.240 and 0.306 of it.
	if math.Abs(mean-4) > 4*deviation/math.Sqrt(n) || deviation < 0.9 || deviation > 1.3 || p.Total("too_long") > 0 {
		t.Errorf("iterations have %.3f s of pauses, deviation %.3f s; want 4 s ± %.3f s", mean, deviation, 4*deviation/math.Sqrt(n))
	}
	share, tolerance := p.Total("check_ins")/n, 4*math.Sqrt(0.43*0.57/n)
	if math.Abs(share-0.43) > tolerance {
		t.Errorf("%.4f of the transactions are check-ins, want 0.43 ± %.4f", share, tolerance)
	}
	t.Logf("%.3f s of pauses, deviation %.3f s, %.4f check-ins", mean, deviation, share)
}
