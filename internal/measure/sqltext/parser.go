// SPDX-License-Identifier: Apache-2.0

package sqltext

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/wasilibs/go-pgquery/parser"
)

// maxNesting bounds what may nest in a statement that is parsed. From about
// 2,000 on the parser's stack overflows, and it takes memory before it does.
const maxNesting = 1000

var (
	errNesting   = errors.New("the statement is nested too deeply")
	errParser    = errors.New("PostgreSQL's parser failed")
	errStatement = errors.New("the text is not one statement")
)

// guard keeps PostgreSQL's parser. There is one: each takes time and memory to
// begin with. After a panic its memory is in no state one could trust, and it
// can't be replaced, so it is not asked any more; nor is one that has not come
// back.
type guard struct {
	mutex  sync.Mutex
	broken bool
}

var theParser guard

// prepare makes the parser ready and gives back the memory that took.
var prepare = sync.OnceFunc(func() {
	theParser.mutex.Lock()
	defer theParser.mutex.Unlock()
	// It takes as long as it takes.
	_, err := attempt("SELECT")
	theParser.broken = errors.Is(err, errParser)
	debug.FreeOSMemory()
})

// Prepare makes PostgreSQL's parser ready in the background. That takes a
// second or two of a CPU, and 260 MiB for so long.
func Prepare() { go prepare() }

// Failed says that the parser is out of order, so that every statement is shown
// by its first word.
func Failed() bool {
	theParser.mutex.Lock()
	defer theParser.mutex.Unlock()
	return theParser.broken
}

// statement as PostgreSQL reads it.
type statement struct {
	tokens []token
	// isQuery: it is planned. All others are utility statements.
	isQuery bool
}

// patience is how long a text may take. The longest that is read takes a third
// of a second.
const patience = 10 * time.Second

// read takes a text apart. Its error may quote the text.
func (g *guard) read(text string) (statement, error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.broken {
		return statement{}, errParser
	}
	type outcome struct {
		statement
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		read, err := attempt(text)
		done <- outcome{read, err}
	}()
	select {
	case read := <-done:
		g.broken = errors.Is(read.err, errParser)
		return read.statement, read.err
	case <-time.After(patience):
		g.broken = true
		return statement{}, errParser
	}
}

// attempt turns a panic into an error.
func attempt(text string) (read statement, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			read, err = statement{}, fmt.Errorf("%w: %v", errParser, reason)
		}
	}()
	return readStatement(text)
}

func readStatement(text string) (statement, error) {
	scanned, err := parser.ScanToProtobuf(text)
	if err != nil {
		return statement{}, err
	}
	tokens, err := tokensOf(scanned)
	if err != nil {
		return statement{}, err
	}
	if nesting(tokens) > maxNesting {
		return statement{}, errNesting
	}
	// Not to JSON: that does not come to an end where much is nested.
	tree, err := parser.ParseToProtobuf(text)
	if err != nil {
		return statement{}, err
	}
	kinds, err := kindsOf(tree)
	if err != nil {
		return statement{}, err
	}
	if len(kinds) != 1 {
		return statement{}, errStatement
	}
	return statement{tokens: tokens, isQuery: slices.Contains(queries, kinds[0])}, nil
}

// nesting is no less than the depth of the tree that tokens make: the brackets
// that are open at once, and whatever may stand between two expressions.
func nesting(tokens []token) int {
	open, deepest, between := 0, 0, 0
	for _, token := range tokens {
		switch token.kind {
		case '(', '[':
			open++
			deepest = max(deepest, open)
		case ')', ']':
			open--
		default:
			if !token.kind.isFlat() {
				between++
			}
		}
	}
	return deepest + between
}
