// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"fmt"
	"regexp"
	"strings"
)

// The calls of FOLIO's pages in order, queries decoded. <name> stands for a
// value that is the same wherever the name occurs in one transaction.
var (
	checkInCalls = []string{
		`GET /groups`,
		`GET /users`,
		`GET /staff-slips-storage/staff-slips?limit=1000`,
		`GET /service-points?limit=1000`,
		`GET /configurations/entries?query=(module=CHECKOUT and configName=other_settings)`,
		`GET /inventory/items?query=barcode=="<item>"&limit=1000`,
		`POST /circulation/check-in-by-barcode`,
		`GET /circulation/requests?query=(itemId==<itemId> and (status=="Open - Awaiting pickup" or status=="Open - Awaiting delivery"))`,
		`GET /accounts?query=loanId=="<loan>"`,
		`GET /lost-item-fees-policies?query=id==<policy>`,
		`GET /accounts?query=(userId==<userId> and itemId==<itemId>) AND (status.name=="Open" OR status.name=="Closed")`,
		`GET /accounts?query=(userId==<userId> and itemId==<itemId> and loanId==<loan>) and status.name=="Open"`,
	}
	checkOutCalls = []string{
		`GET /configurations/entries?query=(module==CHECKOUT and configName==other_settings)`,
		`GET /configurations/entries?query=(module==USERS and configName==profile_pictures)`,
		`GET /groups`,
		`GET /users?query=(barcode=="<user>" OR externalSystemId=="<user>" OR id=="<user>" OR username=="<user>")`,
		`GET /groups?query=(id==group-1)`,
		`GET /accounts?query=(userId==<userId> and status.name<>Closed)&limit=100`,
		`GET /circulation/loans?query=(userId==<userId> and status.name<>Closed)&limit=1`,
		`GET /circulation/requests?query=(requesterId==<userId> and status=="Open")&limit=100`,
		`GET /proxiesfor?query=query=(userId==<userId>)&limit=80`,
		`GET /proxiesfor?query=query=(proxyUserId==<userId>)&limit=80`,
		`GET /note-links/domain/users/type/user/id/<userId>?limit=10000&order=desc&status=assigned`,
		`GET /manualblocks?query=userId==<userId>`,
		`GET /automated-patron-blocks/<userId>?limit=100`,
		`GET /proxiesfor?query=query=(proxyUserId==<userId>)`,
		`GET /circulation/requests?query=(requesterId==<userId> and pickupServicePointId=` + servicePoint + ` and status=="Open - Awaiting pickup")`,
		`GET /inventory/items?query=barcode=="<item>"&limit=40`,
		`POST /circulation/check-out-by-barcode`,
		`GET /circulation/loans?query=(userId==<userId> and status.name<>Closed)&limit=1`,
		`GET /automated-patron-blocks/<userId>?limit=100`,
		`GET /circulation/requests?query=(requesterId==<userId> and status=="Open")&limit=100`,
	}
)

// done is a transaction found in a conversation.
type done struct {
	kind     string
	values   map[string]string
	calls    int
	complete bool
}

// transactions cuts a conversation into transactions. A call out of place is an
// error; a transaction may end early after a call that failed, or where the
// conversation ends.
func transactions(conversation []call) ([]done, error) {
	var found []done
	for at := 0; at < len(conversation); {
		kind, template := "in", checkInCalls
		if strings.HasPrefix(conversation[at].line, "GET /configurations") {
			kind, template = "out", checkOutCalls
		}
		d := done{kind: kind, values: map[string]string{}}
		for d.calls < len(template) && at < len(conversation) {
			c := conversation[at]
			if err := match(template[d.calls], c.line, d.values); err != nil {
				return nil, fmt.Errorf("call %d: %w", at, err)
			}
			at++
			d.calls++
			if c.status >= 400 {
				break
			}
		}
		d.complete = d.calls == len(template)
		found = append(found, d)
	}
	return found, nil
}

var placeholder = regexp.MustCompile(`<(\w+)>`)

// match compares a call with its template and remembers what names stand for.
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
