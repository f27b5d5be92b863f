// SPDX-License-Identifier: Apache-2.0

package k6options

import (
	"cmp"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/grafana/sobek/ast"
)

// Names are the names of a script's groups, or the values of a tag.
type Names struct {
	// Known are sorted. Each nested group is one.
	Known []string
	// Complete: there are no others.
	Complete bool
}

// add adds a literal name; a computed one is unknown.
func (n *Names) add(value any) {
	name, plain := value.(string)
	if !plain {
		n.Complete = false
		return
	}
	if at, found := slices.BinarySearch(n.Known, name); !found {
		n.Known = slices.Insert(n.Known, at, name)
	}
}

// addArgument adds the name in a call of group.
func (n *Names) addArgument(read *script, call *ast.CallExpression) {
	if len(call.ArgumentList) == 0 {
		n.Complete = false
		return
	}
	n.add(read.name(call.ArgumentList[0]))
}

// Groups returns the names of a script's groups.
func Groups(run Run) Names {
	return findNames(run, func(read *script) Names {
		names, imported, called := Names{Complete: true}, findImports(read.statements), 0
		whole := imported.each(read.statements, func(node any) {
			switch node := node.(type) {
			case *ast.CallExpression:
				if imported.isGroup(node.Callee) {
					called++
					names.addArgument(read, node)
				}
			case *ast.Identifier, *ast.DotExpression:
				if imported.isGroup(node.(ast.Expression)) {
					called--
				}
			}
		})
		// Groups called through another name are unknown.
		names.Complete = names.Complete && whole && called == 0
		return names
	})
}

// Tags returns the values that a script sets for a tag.
func Tags(run Run, tag string) Names {
	return findNames(run, func(read *script) Names {
		names, imported, written := Names{Complete: true}, findImports(read.statements), 0
		whole := imported.each(read.statements, func(node any) {
			if property, keyed := node.(*ast.PropertyKeyed); keyed && isText(property.Key, tag) {
				written++
				names.add(read.name(property.Value))
			}
		})
		mentioned := regexp.MustCompile(`\b`+regexp.QuoteMeta(tag)+`\b`).FindAllStringIndex(read.source, -1)
		names.Complete = names.Complete && whole && written == len(mentioned)
		return names
	})
}

// findNames searches a script if it is available and can be parsed.
func findNames(run Run, find func(*script) Names) Names {
	given, err := readArguments(run.Arguments, run.OtherVersion)
	if err != nil || run.Script == nil {
		return Names{}
	}
	read, err := newScript(*run.Script, newEnvironment(run, given).script)
	if err != nil {
		return Names{}
	}
	return find(read)
}

// mostComputed bounds computed names: each may need a search of the whole script.
const mostComputed = 200

// isText reports whether an expression is this string, or a property's key.
func isText(expression ast.Expression, text string) bool {
	written, plain := expression.(*ast.StringLiteral)
	return plain && written.Value.String() == text
}

// name returns the value of an expression, which may be a literal.
func (s *script) name(expression ast.Expression) any {
	if text, plain := expression.(*ast.StringLiteral); plain {
		return text.Value.String()
	}
	if s.computed++; s.computed > mostComputed {
		return unknown{}
	}
	return s.value(expression)
}

// imports are the script's local names of k6 and group.
type imports struct {
	k6, group []string
	// others: there is imported code.
	others bool
}

func findImports(statements []ast.Statement) *imports {
	found := &imports{}
	for _, statement := range statements {
		switch made := statement.(type) {
		case *ast.ImportDeclaration:
			found.add(made)
		case *ast.ExportDeclaration:
			found.others = found.others || made.FromClause != nil
		}
	}
	return found
}

// each visits the nodes of a script; false if it is too deep, or imports code.
func (i *imports) each(statements []ast.Statement, visit func(node any)) bool {
	whole := visitNodes(statements, func(node any) {
		switch node := node.(type) {
		case *ast.DynamicImportExpression:
			i.others = true
		case *ast.Identifier:
			i.others = i.others || node.Name == "require"
		}
		visit(node)
	})
	return whole && !i.others
}

func (i *imports) add(made *ast.ImportDeclaration) {
	module := made.ModuleSpecifier.String()
	if made.FromClause != nil {
		module = made.FromClause.ModuleSpecifier.String()
	}
	i.others = i.others || module != "k6" && !strings.HasPrefix(module, "k6/")
	clause := made.ImportClause
	if module != "k6" || clause == nil {
		return
	}
	if clause.ImportedDefaultBinding != nil {
		i.k6 = append(i.k6, clause.ImportedDefaultBinding.Name.String())
	}
	if clause.NameSpaceImport != nil {
		i.k6 = append(i.k6, clause.NameSpaceImport.ImportedBinding.String())
	}
	if clause.NamedImports == nil {
		return
	}
	for _, named := range clause.NamedImports.ImportsList {
		if named.IdentifierName == "group" {
			i.group = append(i.group, cmp.Or(named.Alias, named.IdentifierName).String())
		}
	}
}

// isGroup reports whether an expression is k6's group function.
func (i *imports) isGroup(expression ast.Expression) bool {
	switch written := expression.(type) {
	case *ast.Identifier:
		return slices.Contains(i.group, written.Name.String())
	case *ast.DotExpression:
		of, plain := written.Left.(*ast.Identifier)
		return plain && written.Identifier.Name == "group" && slices.Contains(i.k6, of.Name.String())
	default:
		return false
	}
}

// deepest bounds the depth of a tree.
const deepest = 5000

// visitNodes visits the nodes of a tree; false if it is too deep.
func visitNodes(tree any, visit func(node any)) bool {
	return visitFields(reflect.ValueOf(tree), visit, deepest)
}

func visitFields(value reflect.Value, visit func(node any), depth int) bool {
	if depth == 0 {
		return false
	}
	whole := true
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() && value.CanInterface() {
			visit(value.Interface())
			whole = visitFields(value.Elem(), visit, depth-1)
		}
	case reflect.Interface:
		whole = value.IsNil() || visitFields(value.Elem(), visit, depth)
	case reflect.Slice:
		for i := range value.Len() {
			whole = visitFields(value.Index(i), visit, depth-1) && whole
		}
	case reflect.Struct:
		for i := range value.NumField() {
			// The bodies contain the declarations, too.
			if value.Type().Field(i).Name != "DeclarationList" {
				whole = visitFields(value.Field(i), visit, depth-1) && whole
			}
		}
	default:
		// It holds no nodes.
	}
	return whole
}
