// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The calls of FOLIO's pages in 2023, in order, with decoded queries. <name> stands for a value
// that is the same wherever the name occurs in one transaction.
var (
	checkInCalls = []string{
		`OPTIONS /configurations/entries?query=(module=CHECKOUT and configName=other_settings)`,
		`OPTIONS /users`,
		`OPTIONS /groups`,
		`OPTIONS /staff-slips-storage/staff-slips?limit=1000`,
		`OPTIONS /service-points?limit=1000`,
		`GET /groups`,
		`GET /users`,
		`GET /staff-slips-storage/staff-slips?limit=1000`,
		`GET /service-points?limit=1000`,
		`GET /configurations/entries?query=(module=CHECKOUT and configName=other_settings)`,
		`OPTIONS /inventory/items?query=barcode=="<item>"&limit=1000`,
		`GET /inventory/items?query=barcode=="<item>"&limit=1000`,
		`OPTIONS /circulation/check-in-by-barcode`,
		`POST /circulation/check-in-by-barcode`,
		`OPTIONS /circulation/requests?query=(itemId==<itemId> and (status=="Open - Awaiting pickup" or status=="Open - Awaiting delivery"))`,
		`OPTIONS /accounts?query=loanId=="<loan>"`,
		`GET /circulation/requests?query=(itemId==<itemId> and (status=="Open - Awaiting pickup" or status=="Open - Awaiting delivery"))`,
		`GET /accounts?query=loanId=="<loan>"`,
		`OPTIONS /lost-item-fees-policies?query=id==<policy>`,
		`OPTIONS /accounts?query=(userId==<userId> and itemId==<itemId>) AND (status.name=="Open" OR status.name=="Closed")`,
		`OPTIONS /accounts?query=(userId==<userId> and itemId==<itemId> and loanId==<loan>) and status.name=="Open"`,
		`GET /lost-item-fees-policies?query=id==<policy>`,
		`GET /accounts?query=(userId==<userId> and itemId==<itemId>) AND (status.name=="Open" OR status.name=="Closed")`,
		`GET /accounts?query=(userId==<userId> and itemId==<itemId> and loanId==<loan>) and status.name=="Open"`,
	}
	checkOutCalls = []string{
		`OPTIONS /configurations/entries?query=(module==CHECKOUT and configName==other_settings)`,
		`OPTIONS /configurations/entries?query=(module==USERS and configName==profile_pictures)`,
		`OPTIONS /groups`,
		`GET /configurations/entries?query=(module==CHECKOUT and configName==other_settings)`,
		`GET /configurations/entries?query=(module==USERS and configName==profile_pictures)`,
		`GET /groups`,
		`OPTIONS /users?query=(barcode=="<user>" OR externalSystemId=="<user>" OR id=="<user>" OR username=="<user>")`,
		`GET /users?query=(barcode=="<user>" OR externalSystemId=="<user>" OR id=="<user>" OR username=="<user>")`,
		`OPTIONS /groups?query=(id==<group>)`,
		`OPTIONS /circulation/loans?query=(userId==<userId> and status.name<>Closed)&limit=1`,
		`OPTIONS /accounts?query=(userId==<userId> and status.name<>Closed)&limit=100`,
		`OPTIONS /circulation/requests?query=(requesterId==<userId> and status=="Open")&limit=100`,
		`OPTIONS /proxiesfor?query=query=(userId==<userId>)`,
		`OPTIONS /proxiesfor?query=query=(proxyUserId==<userId>)`,
		`OPTIONS /manualblocks?query=userId==<userId>&limit=80`,
		`OPTIONS /note-links/domain/users/type/user/id/<userId>?limit=10000&order=desc&status=assigned`,
		`GET /groups?query=(id==<group>)`,
		`GET /accounts?query=(userId==<userId> and status.name<>Closed)&limit=100`,
		`GET /circulation/loans?query=(userId==<userId> and status.name<>Closed)&limit=1`,
		`GET /circulation/requests?query=(requesterId==<userId> and status=="Open")&limit=100`,
		`GET /proxiesfor?query=query=(userId==<userId>)&limit=80`,
		`GET /proxiesfor?query=query=(proxyUserId==<userId>)&limit=80`,
		`GET /note-links/domain/users/type/user/id/<userId>?limit=10000&order=desc&status=assigned`,
		`GET /manualblocks?query=userId==<userId>`,
		`OPTIONS /automated-patron-blocks/<userId>?limit=100`,
		`GET /automated-patron-blocks/<userId>?limit=100`,
		`OPTIONS /proxiesfor?query=query=(proxyUserId==<userId>)`,
		`GET /proxiesfor?query=query=(proxyUserId==<userId>)`,
		`OPTIONS /circulation/requests?query=(requesterId==<userId> and    pickupServicePointId=<servicePoint> and     status=="Open - Awaiting pickup")`,
		`GET /circulation/requests?query=(requesterId==<userId> and    pickupServicePointId=<servicePoint> and     status=="Open - Awaiting pickup")`,
		`OPTIONS /inventory/items?query=barcode=="<item>"&limit=40`,
		`GET /inventory/items?query=barcode=="<item>"&limit=40`,
		`OPTIONS /circulation/check-out-by-barcode`,
		`POST /circulation/check-out-by-barcode`,
		`OPTIONS /circulation/loans?query=(userId==<userId> and status.name<>Closed)&limit=1`,
		`OPTIONS /circulation/requests?query=(requesterId==<userId> and status=="Open")&limit=100`,
		`GET /circulation/loans?query=(userId==<userId> and status.name<>Closed)&limit=1`,
		`GET /automated-patron-blocks/<userId>?limit=100`,
		`GET /circulation/requests?query=(requesterId==<userId> and status=="Open")&limit=100`,
	}
	in2026 = strings.NewReplacer(
		`/configurations/entries?query=(module=CHECKOUT and configName=other_settings)`, `/circulation/settings?query=(name==other_settings)`,
		`/configurations/entries?query=(module==CHECKOUT and configName==other_settings)`, `/circulation/settings?query=(name==other_settings)`,
		`/configurations/entries?query=(module==USERS and configName==profile_pictures)`, `/user/settings`,
		`status=="Open"`, `status=="Open*"`,
	)
	limit100 = regexp.MustCompile(`\blimit=100$`)
)

// pages are the calls of both of FOLIO's pages.
type pages struct{ in, out []string }

var pages2023 = pages{checkInCalls, checkOutCalls}

// withoutPreflights returns the calls of a page with the same origin as the gateway.
func (p pages) withoutPreflights() pages {
	isPreflight := func(line string) bool { return strings.HasPrefix(line, "OPTIONS ") }
	return pages{slices.DeleteFunc(slices.Clone(p.in), isPreflight), slices.DeleteFunc(slices.Clone(p.out), isPreflight)}
}

// of2026 returns the pages after settings moved.
func (p pages) of2026() pages {
	renew := func(calls []string) []string {
		var renewed []string
		for _, line := range calls {
			renewed = append(renewed, limit100.ReplaceAllString(in2026.Replace(line), "limit=10000"))
		}
		return renewed
	}
	return pages{renew(p.in), renew(p.out)}
}

// done is a transaction found in a conversation.
type done struct {
	kind     string
	values   map[string]string
	calls    int
	complete bool
}

// transactions splits a conversation into transactions. A call in the wrong place is an error. A
// transaction may end early after a failed call, or at the end of the conversation.
func (p pages) transactions(conversation []call) ([]done, error) {
	var found []done
	for at := 0; at < len(conversation); {
		kind, template := "out", p.out
		if p.startsCheckIn(conversation[at:]) {
			kind, template = "in", p.in
		}
		d := done{kind: kind, values: map[string]string{}}
		for d.calls < len(template) && at < len(conversation) {
			c := conversation[at]
			if err := match(template[d.calls], c.line, d.values); err != nil {
				return nil, fmt.Errorf("call %d: %w", at, err)
			}
			at++
			d.calls++
			d.complete = d.calls == len(template) && c.status < 400
			if c.status >= 400 {
				break
			}
		}
		found = append(found, d)
	}
	return found, nil
}

// startsCheckIn compares two calls, because the first may be the same on both pages.
func (p pages) startsCheckIn(conversation []call) bool {
	for i, c := range conversation[:min(2, len(conversation))] {
		if c.line != p.in[i] {
			return false
		}
		if c.status >= 400 {
			break
		}
	}
	return true
}

var placeholder = regexp.MustCompile(`<(\w+)>`)

// match compares a call with its template, and records the values of the names.
func match(template, line string, values map[string]string) error {
	seen := map[string]bool{}
	var names []string
	pattern := placeholder.ReplaceAllStringFunc(regexp.QuoteMeta(template), func(text string) string {
		name := strings.Trim(text, "<>")
		if value, ok := values[name]; ok {
			return regexp.QuoteMeta(value)
		}
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
			return `([\w-]+)`
		}
		return `[\w-]+`
	})
	parts := regexp.MustCompile("^" + pattern + "$").FindStringSubmatch(line)
	if parts == nil {
		return fmt.Errorf("%s\n  where this is due: %s with %v", line, template, values)
	}
	for i, name := range names {
		values[name] = parts[i+1]
	}
	return nil
}
