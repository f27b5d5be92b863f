// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// killAfter is how long a program may take to end after a signal.
const killAfter = 2 * time.Second

// shell interprets one script. Like other shells, it replaces its process by the last
// command if possible: signals then reach k6, and no parent process remains.
type shell struct {
	runner *interp.Runner
	files  streams
	// name is the script's $0.
	name string
	// last: the current statement is the script's last, and a plain command.
	last bool
}

// runShell implements sh -c TEXT [NAME [ARGUMENT...]].
func runShell(ctx context.Context, arguments []string, files streams) int {
	if len(arguments) < 2 || arguments[0] != "-c" {
		files.complain("sh", "this sh supports only -c TEXT [NAME [ARGUMENT...]]")
		return exitUsage
	}
	parsed, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(arguments[1]), "sh")
	if err != nil {
		files.complain("sh", err)
		return exitUsage
	}
	interpreter := &shell{files: files, name: "sh"}
	if err := interpreter.start(arguments[2:]); err != nil {
		files.complain("sh", err)
		return exitUsage
	}
	return interpreter.run(ctx, parsed.Stmts)
}

// start sets the script's name and arguments.
func (s *shell) start(named []string) error {
	parameters := []string{"--"}
	if len(named) > 0 {
		s.name = named[0]
		parameters = append(parameters, named[1:]...)
	}
	runner, err := interp.New(
		interp.Env(expand.ListEnviron(os.Environ()...)),
		interp.StdIO(s.files.in, s.files.out, s.files.problems),
		interp.Params(parameters...),
		interp.CallHandler(s.unwrap),
		interp.ExecHandlers(s.execute),
	)
	s.runner = runner
	return err
}

func (s *shell) run(ctx context.Context, statements []*syntax.Stmt) int {
	var err error
	for i, statement := range statements {
		s.last = i == len(statements)-1 && replaceable(statement)
		file := &syntax.File{Name: s.name, Stmts: []*syntax.Stmt{statement}}
		if err = s.runner.Run(ctx, file); s.runner.Exited() {
			break
		}
	}
	var status interp.ExitStatus
	if err == nil || errors.As(err, &status) {
		return int(status)
	}
	s.files.complain("sh", err)
	return exitUsage
}

// replaceable reports whether a statement is one command without redirections and
// command substitutions.
func replaceable(statement *syntax.Stmt) bool {
	command, plain := statement.Cmd.(*syntax.CallExpr)
	if !plain || statement.Negated || statement.Background || len(statement.Redirs) > 0 {
		return false
	}
	syntax.Walk(command, func(node syntax.Node) bool {
		if _, nested := node.(*syntax.CmdSubst); nested {
			plain = false
		}
		return plain
	})
	return plain
}

// unwrap removes exec from the last command, which replaces the shell anyway.
func (s *shell) unwrap(_ context.Context, words []string) ([]string, error) {
	if s.last && words[0] == "exec" && len(words) > 1 {
		return words[1:], nil
	}
	return words, nil
}

// execute runs commands that are no builtins. The last command replaces the
// process.
func (s *shell) execute(interp.ExecHandlerFunc) interp.ExecHandlerFunc {
	child := interp.DefaultExecHandler(killAfter)
	return func(ctx context.Context, words []string) error {
		if !s.last {
			return child(ctx, words)
		}
		at := interp.HandlerCtx(ctx)
		path, err := interp.LookPathDir(at.Dir, at.Env, words[0])
		if err != nil {
			return child(ctx, words) // It reports its error.
		}
		return errors.Join(syscall.Chdir(at.Dir), syscall.Exec(path, words, exported(at.Env)))
	}
}

// exported returns the environment of programs. A command's own assignment to a name
// comes last.
func exported(variables expand.Environ) []string {
	values := map[string]string{}
	for name, variable := range variables.Each {
		delete(values, name)
		if variable.Exported && variable.Kind == expand.String {
			values[name] = variable.String()
		}
	}
	list := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list = append(list, name+"="+values[name])
	}
	return list
}
