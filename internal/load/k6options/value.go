// SPDX-License-Identifier: Apache-2.0

package k6options

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/parser"
	"github.com/grafana/sobek/token"
)

// object is a JavaScript object. Its values are strings, float64, booleans,
// []any, objects, nil (null and undefined) and unknown.
type object map[string]any

// has reports whether an object has a field that k6 uses.
func (o object) has(name string) bool { return o[name] != nil }

// lower has the same fields in lower case, because k6 is case-insensitive.
func (o object) lower() object {
	lowered := object{}
	for name, value := range o {
		lowered[strings.ToLower(name)] = value
	}
	return lowered
}

// unknown is a value that only running the script determines.
type unknown struct{}

// mostDepth bounds the resolution of cyclic values.
const mostDepth = 32

// Script is a file with a k6 script.
type Script struct{ Name, Text string }

// mostSource is the largest size of a script in a ConfigMap.
const mostSource = 1 << 20

// script is a parsed script.
type script struct {
	source string
	// statements of the script, in order.
	statements []ast.Statement
	// declared are the initializers of the script's names.
	declared map[string]ast.Expression
	env      map[string]any
	// exports by name.
	exports map[string]bool
	// more: there may be unknown exports.
	more  bool
	depth int
	// computed counts computed names.
	computed int
}

// readScript returns a script's exports.
func readScript(file *Script, env environment) layer {
	found := layer{source: FromScript, err: ErrAbsent}
	if file == nil {
		return found
	}
	read, err := newScript(*file, env.script)
	if err != nil {
		found.err = err
		return found
	}
	if !read.more {
		found.exports = read.exports
	}
	found.options, found.err = read.options()
	return found
}

func newScript(file Script, env map[string]any) (*script, error) {
	if len(file.Text) > mostSource {
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrSource, mostSource)
	}
	program, source, err := parse(file)
	if err != nil {
		return nil, err
	}
	read := &script{source: source, statements: program.Body, env: env, declared: map[string]ast.Expression{}, exports: map[string]bool{}, more: commonJS.MatchString(source)}
	for _, statement := range program.Body {
		read.declare(statement)
	}
	return read, nil
}

var commonJS = regexp.MustCompile(`\bexports\b`)

// parse parses a script as k6 does: as TypeScript if its name ends in .ts, else as JavaScript.
func parse(file Script) (*ast.Program, string, error) {
	program, err := parseJavaScript(file.Text, parser.IsModule)
	if err == nil {
		return program, file.Text, nil
	}
	if plain, typed := withoutTypes(file); typed == nil && strings.HasSuffix(file.Name, ".ts") {
		program, err = parseJavaScript(plain, parser.IsModule)
		return program, plain, err
	}
	if _, loose := parseJavaScript(file.Text); loose == nil {
		// It is an unsupported kind of module.
		return nil, "", ErrSource
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return nil, "", &Refusal{FromScript, fmt.Sprintf("%v: %s; TypeScript needs a name that ends with .ts", ErrSource, first)}
}

// parseJavaScript ignores the script's source map.
func parseJavaScript(source string, options ...parser.Option) (*ast.Program, error) {
	return parser.ParseFile(nil, "script", source, 0, append(options, parser.WithDisableSourceMaps)...)
}

func withoutTypes(file Script) (string, error) {
	made := api.Transform(file.Text, api.TransformOptions{
		Loader: api.LoaderTS, Sourcefile: file.Name, Target: api.ESNext, Platform: api.PlatformNeutral,
		LegalComments: api.LegalCommentsNone, Charset: api.CharsetUTF8, LogLevel: api.LogLevelSilent,
	})
	if len(made.Errors) > 0 {
		return "", errors.New(made.Errors[0].Text)
	}
	return string(made.Code), nil
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

// export notes exported names.
func (s *script) export(made *ast.ExportDeclaration) {
	switch {
	case made.IsDefault:
		s.exports["default"] = true
	case made.LexicalDeclaration != nil:
		s.exportAll(made.LexicalDeclaration.List)
	case made.Variable != nil:
		s.exportAll(made.Variable.List)
	case made.HoistableDeclaration != nil && made.HoistableDeclaration.FunctionDeclaration != nil:
		s.exports[made.HoistableDeclaration.FunctionDeclaration.Function.Name.Name.String()] = true
	case made.NamedExports != nil && made.FromClause == nil:
		for _, named := range made.NamedExports.ExportsList {
			s.exportAs(named)
		}
	default:
		s.more = true
	}
}

func (s *script) exportAll(list []*ast.Binding) {
	s.bind(list)
	for _, binding := range list {
		name, plain := binding.Target.(*ast.Identifier)
		if !plain {
			// Destructuring has unknown names.
			s.more = true
			continue
		}
		s.exports[name.Name.String()] = true
	}
}

// exportAs notes an exported name, which may be an alias.
func (s *script) exportAs(named *ast.ExportSpecifier) {
	name := cmp.Or(named.Alias, named.IdentifierName).String()
	s.exports[name] = true
	if named.Alias != "" {
		s.declared[name] = &ast.Identifier{Name: named.IdentifierName}
	}
}

const optionsName = "options"

// bind notes the initializers of names.
func (s *script) bind(list []*ast.Binding) {
	for _, binding := range list {
		if name, plain := binding.Target.(*ast.Identifier); plain && binding.Initializer != nil {
			s.declared[name.Name.String()] = binding.Initializer
		}
	}
}

// options returns the script's exported options, in lower case.
func (s *script) options() (object, error) {
	switch {
	case !s.exports[optionsName] && s.more:
		return nil, errComputed(optionsName)
	case !s.exports[optionsName]:
		return object{}, nil
	}
	exported, plain := s.named(optionsName).(object)
	if !plain {
		return nil, errComputed(optionsName)
	}
	lowered := exported.lower()
	for _, number := range []string{optionUsers, optionIterations} {
		if lowered[number] == "" {
			delete(lowered, number)
		}
	}
	return lowered, nil
}

// named returns the value of a name, unless it is reassigned.
func (s *script) named(name string) any {
	written, found := s.declared[name]
	if !found || s.depth >= mostDepth || s.assigned(name) {
		return unknown{}
	}
	s.depth++
	defer func() { s.depth-- }()
	return s.value(written)
}

// assigned reports whether a name, or its content, may be assigned after its declaration.
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

// member of an object. An undeclared environment variable does not exist.
func (s *script) member(of ast.Expression, name string) any {
	if from, plain := of.(*ast.Identifier); plain && from.Name == "__ENV" {
		return s.env[name]
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
