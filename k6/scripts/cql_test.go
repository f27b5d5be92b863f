// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// condition is a query in CQL, of the simple forms that FOLIO's pages send. It reports whether a
// record matches.
type condition struct {
	// indexes are the fields in the query.
	indexes []string
	matches func(record map[string]any) bool
}

// cql parses a query. It returns an error for a query that FOLIO's parser would reject.
func cql(query string) (condition, error) {
	p := &cqlParser{tokens: cqlToken.FindAllString(query, -1)}
	if rest := cqlToken.ReplaceAllString(query, ""); strings.TrimSpace(rest) != "" {
		return condition{}, fmt.Errorf("unexpected %q in %s", rest, query)
	}
	matches, err := p.query()
	if err == nil && p.peek() != "" {
		err = fmt.Errorf("unexpected %q", p.peek())
	}
	if err != nil {
		return condition{}, fmt.Errorf("%w in %s", err, query)
	}
	return condition{p.indexes, matches}, nil
}

var cqlToken = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|==|<>|<=|>=|[=<>()]|[^\s()=<>"]+`)

type cqlParser struct {
	tokens  []string
	at      int
	indexes []string
}

func (p *cqlParser) peek() string {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return ""
}

func (p *cqlParser) next() string {
	token := p.peek()
	p.at++
	return token
}

func (p *cqlParser) is(words ...string) bool {
	return slices.Contains(words, strings.ToLower(p.peek()))
}

type matcher = func(map[string]any) bool

// query parses clauses and the sort order.
func (p *cqlParser) query() (matcher, error) {
	left, err := p.clause()
	for err == nil && p.is("and", "or", "not") {
		combine := strings.ToLower(p.next())
		var right matcher
		if right, err = p.clause(); err == nil {
			left = combined(left, combine, right)
		}
	}
	if err == nil && p.is("sortby") {
		err = p.sorting()
	}
	return left, err
}

func combined(left matcher, by string, right matcher) matcher {
	return func(r map[string]any) bool {
		switch by {
		case "and":
			return left(r) && right(r)
		case "or":
			return left(r) || right(r)
		}
		return left(r) && !right(r)
	}
}

func (p *cqlParser) sorting() error {
	p.next()
	if p.peek() == "" || p.peek() == ")" {
		return fmt.Errorf("sortby without a key")
	}
	for p.peek() != "" && p.peek() != ")" {
		if strings.ContainsAny(p.next(), `"=<>(`) {
			return fmt.Errorf("a key to sort by is no word")
		}
	}
	return nil
}

func (p *cqlParser) clause() (matcher, error) {
	if p.peek() == "(" {
		p.next()
		inner, err := p.query()
		if err == nil && p.next() != ")" {
			err = fmt.Errorf("a parenthesis is not closed")
		}
		return inner, err
	}
	index := p.next()
	if index == "" || strings.ContainsAny(index, "()=<>") {
		return nil, fmt.Errorf("no index where one is due, but %q", index)
	}
	if !p.is("==", "=", "<>", "<", ">", "<=", ">=", "all", "any") {
		return nil, fmt.Errorf("no relation behind %s, but %q", index, p.peek())
	}
	relation := strings.ToLower(p.next())
	p.indexes = append(p.indexes, index)
	return p.value(strings.Trim(index, `"`), relation)
}

// value parses a term, or terms in parentheses that share index and relation.
func (p *cqlParser) value(index, relation string) (matcher, error) {
	if p.peek() != "(" {
		term := p.next()
		if term == "" || term == ")" || strings.ContainsAny(term[:1], "=<>") {
			return nil, fmt.Errorf("no term behind %s %s, but %q", index, relation, term)
		}
		return compared(index, relation, strings.Trim(term, `"`)), nil
	}
	p.next()
	left, err := p.value(index, relation)
	for err == nil && p.is("and", "or", "not") {
		combine := strings.ToLower(p.next())
		var right matcher
		if right, err = p.value(index, relation); err == nil {
			left = combined(left, combine, right)
		}
	}
	if err == nil && p.next() != ")" {
		err = fmt.Errorf("a parenthesis is not closed")
	}
	return left, err
}

func compared(index, relation, term string) matcher {
	if index == "cql.allRecords" {
		return func(map[string]any) bool { return true }
	}
	return func(r map[string]any) bool {
		is := false
		for _, value := range valuesAt(r, strings.Split(index, ".")) {
			is = is || like(value, relation, term)
		}
		return is != (relation == "<>")
	}
}

// valuesAt returns the values at a path, in each element of a list.
func valuesAt(value any, path []string) []string {
	if list, ok := value.([]any); ok {
		var found []string
		for _, one := range list {
			found = append(found, valuesAt(one, path)...)
		}
		return found
	}
	record, ok := value.(map[string]any)
	switch {
	case len(path) == 0 && value != nil:
		return []string{fmt.Sprint(value)}
	case ok && len(path) > 0:
		return valuesAt(record[path[0]], path[1:])
	}
	return nil
}

func like(value, relation, term string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.ToLower(term)), `\*`, ".*")
	if relation != "==" && relation != "<>" {
		pattern = `(.*\b)?` + pattern + `(\b.*)?`
	}
	return regexp.MustCompile("^" + pattern + "$").MatchString(strings.ToLower(value))
}

func TestFakeFOLIOParsesCQL(t *testing.T) {
	t.Parallel()
	record := map[string]any{
		"title": "Water and fire", "status": "Open", "personal": map[string]any{"name": "Ada"},
		"lines": []any{map[string]any{"note": "for approve"}}, "number": 7,
	}
	tests := []struct {
		query string
		want  any // whether it matches, or nil if it does not parse
	}{
		{`cql.allRecords=1 sortby name`, true},
		{`status==Open`, true},
		{`status=="open" sortby title/sort.descending number`, true},
		{`status<>Open`, false},
		{`status==("Closed" or "Open" or "Pending")`, true},
		{`(status==(Closed) and number==7)`, false},
		{`number == 7 AND      personal.name=="A*"`, true},
		{`title = wat*`, true},
		{`title = "fire"`, true},
		{`title == fire`, false},
		{`(((title="fire*" or status="x*"))) sortby title`, true},
		{`lines.note="approve*"`, true},
		{`title all "water" NOT status == Open`, false},
		{`missing==1`, false},
		{`id<>"undefined" AND title==*`, true},
		{`title all water fire`, nil},
		{`title`, nil},
		{`title==`, nil},
		{`(title==x`, nil},
		{`title==x)`, nil},
		{`title==x and`, nil},
		{`title==x sortby`, nil},
		{`title==(a or)`, nil},
		{`title=="x`, nil},
		{``, nil},
	}
	for _, tt := range tests {
		parsed, err := cql(tt.query)
		if (err != nil) != (tt.want == nil) {
			t.Errorf("%s: %v", tt.query, err)
			continue
		}
		if err == nil && parsed.matches(record) != tt.want {
			t.Errorf("%s matches: %v, want %v", tt.query, !tt.want.(bool), tt.want)
		}
	}
}
