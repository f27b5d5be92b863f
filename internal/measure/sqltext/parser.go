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

// maxNesting limits the nesting of a parsed statement. From about 2,000 on the parser's stack
// overflows, and it takes memory before it does.
const maxNesting = 1000

var (
	errNesting   = errors.New("the statement is nested too deeply")
	errParser    = errors.New("PostgreSQL's parser failed")
	errStatement = errors.New("the text is not one statement")
)

// safeParser wraps PostgreSQL's parser. There is only one, because its initialization takes
// time and memory. After a panic or a timeout its memory can't be trusted and it can't be
// replaced, so it is not used again.
type safeParser struct {
	mutex  sync.Mutex
	broken bool
}

var sharedParser safeParser

// prepare initializes the parser and frees the memory that this took.
var prepare = sync.OnceFunc(func() {
	sharedParser.mutex.Lock()
	defer sharedParser.mutex.Unlock()
	// This has no timeout.
	_, err := attempt("SELECT")
	sharedParser.broken = errors.Is(err, errParser)
	debug.FreeOSMemory()
})

// Prepare initializes PostgreSQL's parser in the background. That takes a second or two of a CPU,
// and meanwhile 260 MiB.
func Prepare() { go prepare() }

// Failed reports whether the parser failed, so that statements are replaced by their first
// word.
func Failed() bool {
	sharedParser.mutex.Lock()
	defer sharedParser.mutex.Unlock()
	return sharedParser.broken
}

// statement is a statement in PostgreSQL's grammar.
type statement struct {
	tokens []token
	// isQuery means that it is planned. All others are utility statements.
	isQuery bool
}

// parseTimeout limits the time for a text. The longest text takes a third of a second.
const parseTimeout = 10 * time.Second

// read parses a text. Its error may quote the text.
func (g *safeParser) read(text string) (statement, error) {
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
	case <-time.After(parseTimeout):
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
	tokens, err := decodeTokens(scanned)
	if err != nil {
		return statement{}, err
	}
	if nesting(tokens) > maxNesting {
		return statement{}, errNesting
	}
	// Converting deep nesting to JSON does not terminate.
	tree, err := parser.ParseToProtobuf(text)
	if err != nil {
		return statement{}, err
	}
	kinds, err := statementKinds(tree)
	if err != nil {
		return statement{}, err
	}
	if len(kinds) != 1 {
		return statement{}, errStatement
	}
	return statement{tokens: tokens, isQuery: slices.Contains(queries, kinds[0])}, nil
}

// nesting is an upper bound of the depth of the syntax tree: open brackets, and tokens that
// may join expressions.
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
