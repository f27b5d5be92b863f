// SPDX-License-Identifier: Apache-2.0

package k6options

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/parser"
	"github.com/grafana/sobek/token"
)

// object is a JavaScript object. Its values are strings, float64, booleans,
// []any, objects, nil (null and undefined) and unknown.
type object map[string]any

// has says whether an object holds something k6 heeds.
func (o object) has(name string) bool { return o[name] != nil }

// unknown is the value of what only running the script tells.
type unknown struct{}

// mostDepth ends the search for values that name each other in a circle.
const mostDepth = 32

// script is one that was parsed.
type script struct {
	source string
	// declared are the values of the script's own names, as they are written.
	declared map[string]ast.Expression
	env      map[string]string
	exported bool
	depth    int
}

func newScript(source string, env map[string]string) (*script, error) {
	// A script may name a source map, a file or an address, which is left alone.
	program, err := parser.ParseFile(nil, "script", source, 0, parser.IsModule, parser.WithDisableSourceMaps)
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return nil, fmt.Errorf("%w: %s", ErrSource, first)
	}
	read := &script{source: source, env: env, declared: map[string]ast.Expression{}}
	for _, statement := range program.Body {
		read.declare(statement)
	}
	return read, nil
}

func (s *script) declare(statement ast.Statement) {
	switch made := statement.(type) {
	case *ast.LexicalDeclaration:
		s.bind(made.List)
	case *ast.VariableStatement:
		s.bind(made.List)
	case *ast.ExportDeclaration:
		s.export(made)
	}
}

func (s *script) export(made *ast.ExportDeclaration) {
	switch {
	case made.LexicalDeclaration != nil:
		s.exported = s.bind(made.LexicalDeclaration.List) || s.exported
	case made.Variable != nil:
		s.exported = s.bind(made.Variable.List) || s.exported
	case made.NamedExports != nil && made.FromClause == nil:
		for _, named := range made.NamedExports.ExportsList {
			s.exported = s.exported || named.IdentifierName == optionsName && (named.Alias == "" || named.Alias == optionsName)
		}
	}
}

const optionsName = "options"

// bind notes what names stand for, and says whether the options are among them.
func (s *script) bind(list []*ast.Binding) bool {
	found := false
	for _, binding := range list {
		if name, plain := binding.Target.(*ast.Identifier); plain && binding.Initializer != nil {
			s.declared[name.Name.String()] = binding.Initializer
			found = found || name.Name == optionsName
		}
	}
	return found
}

// options are the ones the script exports.
func (s *script) options() (object, error) {
	if !s.exported {
		return nil, ErrNone
	}
	exported, plain := s.named(optionsName).(object)
	if !plain {
		return nil, fmt.Errorf("options %w", ErrComputed)
	}
	return exported, nil
}

// named is the value of a name, unless it is written to again.
func (s *script) named(name string) any {
	written, found := s.declared[name]
	if !found || s.depth >= mostDepth || s.assigned(name) {
		return unknown{}
	}
	s.depth++
	defer func() { s.depth-- }()
	return s.value(written)
}

// assigned says whether a name, or what it holds, seems to be written to after
// it was declared.
func (s *script) assigned(name string) bool {
	assignment := regexp.MustCompile(`(^|[^\w$.])` + regexp.QuoteMeta(name) + `\s*((\.\s*[\w$]+|\[[^\]]*\])\s*)*([-+*/|&?]*=[^=>]|\.(push|pop|splice)\()`)
	return len(assignment.FindAllStringIndex(s.source, 2)) > 1
}

func (s *script) value(expression ast.Expression) any {
	switch written := expression.(type) {
	case *ast.StringLiteral:
		return written.Value.String()
	case *ast.NumberLiteral:
		return number(written.Value)
	case *ast.BooleanLiteral:
		return written.Value
	case *ast.NullLiteral:
		return nil
	case *ast.TemplateLiteral:
		return s.template(written)
	case *ast.ObjectLiteral:
		return s.object(written)
	case *ast.ArrayLiteral:
		return s.array(written)
	case *ast.BinaryExpression:
		return s.binary(written)
	case *ast.Identifier:
		return s.identifier(written.Name.String())
	case *ast.DotExpression:
		return s.member(written.Left, written.Identifier.Name.String())
	case *ast.BracketExpression:
		name, plain := s.value(written.Member).(string)
		if !plain {
			return unknown{}
		}
		return s.member(written.Left, name)
	default:
		return unknown{}
	}
}

func number(parsed any) any {
	switch parsed := parsed.(type) {
	case int64:
		return float64(parsed)
	case float64:
		return parsed
	default:
		return unknown{}
	}
}

func (s *script) identifier(name string) any {
	if name == "undefined" {
		return nil
	}
	return s.named(name)
}

// member of an object. A variable of the environment that nobody declares is
// not there.
func (s *script) member(of ast.Expression, name string) any {
	if from, plain := of.(*ast.Identifier); plain && from.Name == "__ENV" {
		if value, found := s.env[name]; found {
			return value
		}
		return nil
	}
	from, plain := s.value(of).(object)
	if !plain {
		return unknown{}
	}
	return from[name]
}

func (s *script) template(written *ast.TemplateLiteral) any {
	if written.Tag != nil {
		return unknown{}
	}
	var text strings.Builder
	for i, element := range written.Elements {
		text.WriteString(element.Parsed.String())
		if i >= len(written.Expressions) {
			continue
		}
		switch value := s.value(written.Expressions[i]).(type) {
		case string, float64:
			fmt.Fprint(&text, value)
		default:
			return unknown{}
		}
	}
	return text.String()
}

func (s *script) array(written *ast.ArrayLiteral) any {
	values := make([]any, 0, len(written.Value))
	for _, element := range written.Value {
		if _, spread := element.(*ast.SpreadElement); spread {
			return unknown{}
		}
		values = append(values, s.value(element))
	}
	return values
}

func (s *script) object(written *ast.ObjectLiteral) any {
	made := object{}
	for _, property := range written.Value {
		switch property := property.(type) {
		case *ast.PropertyShort:
			made[property.Name.Name.String()] = s.named(property.Name.Name.String())
		case *ast.PropertyKeyed:
			name, plain := s.value(property.Key).(string)
			if !plain {
				return unknown{}
			}
			made[name] = s.value(property.Value)
		case *ast.SpreadElement:
			more, plain := s.value(property.Expression).(object)
			if !plain {
				return unknown{}
			}
			for name, value := range more {
				made[name] = value
			}
		}
	}
	return made
}

func (s *script) binary(written *ast.BinaryExpression) any {
	left := s.value(written.Left)
	if left == (any)(unknown{}) {
		return left
	}
	switch written.Operator {
	case token.LOGICAL_OR:
		if left == nil || left == "" || left == 0.0 || left == false {
			return s.value(written.Right)
		}
		return left
	case token.COALESCE:
		if left == nil {
			return s.value(written.Right)
		}
		return left
	default:
		return sum(written.Operator, left, s.value(written.Right))
	}
}

func sum(operator token.Token, left, right any) any {
	if text, plain := left.(string); plain && operator == token.PLUS {
		switch right := right.(type) {
		case string, float64:
			return text + fmt.Sprint(right)
		}
	}
	a, first := left.(float64)
	b, second := right.(float64)
	if !first || !second {
		return unknown{}
	}
	switch operator {
	case token.PLUS:
		return a + b
	case token.MINUS:
		return a - b
	case token.MULTIPLY:
		return a * b
	default:
		return unknown{}
	}
}
