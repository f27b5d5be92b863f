// SPDX-License-Identifier: Apache-2.0

package importers_test

import (
	"fmt"
	"testing"
)

// undefined is Gatling's value for a missing start or end.
const undefined = "-9223372036854775808"

// Unfinished requests have no duration; failed ones count as failures.
func TestGatlingUnfinished(t *testing.T) {
	got := must(t, "gatling", gatlingLog+
		"REQUEST\t\tlist\t1735900001000\t"+undefined+"\tOK\t \n"+
		"REQUEST\t\tlist\t1735900001000\t"+undefined+"\tKO\tbroken\n"+
		"REQUEST\t\tlist\t"+undefined+"\t1735900001000\tKO\tbroken\n"+
		"GROUP\tCart\t1735900001000\t"+undefined+"\t0\tOK\n")
	wantValues(t, got, map[string]string{"cico/list/average": "100 ms of 2", "cico/list/errors": "33.3333 % of 3", "cico/Cart/average": ""})
	wantNote(t, got, "1 record without an end counted as failed, without a duration")
	wantNote(t, got, "3 records without an end omitted: unfinished when the simulation stopped")
}

// A group's time includes pauses, so its requests are primary.
func TestGatlingGroupsHavePauses(t *testing.T) {
	got := must(t, "gatling", "RUN\tx\tx\t1735900000000\t \t3.9.5\nREQUEST\tCart\tpost\t1735900000120\t1735900000320\tOK\t \nGROUP\tCart\t1735900000120\t1735900005400\t200\tOK\n")
	if fmt.Sprint(got.Paused) != "[cico/Cart/average]" {
		t.Errorf("pauses are in %q", got.Paused)
	}
	wantNote(t, got, "a group's time includes its pauses")
}
