// SPDX-License-Identifier: Apache-2.0

package sqltext

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// kind of a token, by the parser's numbers. Those below 256 are characters. All
// numbers are in
// https://github.com/pganalyze/libpg_query/blob/17-latest/protobuf/pg_query.proto
type kind int32

const (
	identifier    kind = 258
	unicodeName   kind = 259
	decimal       kind = 260
	simpleString  kind = 261
	unicodeString kind = 262
	bitString     kind = 263
	hexString     kind = 264
	integer       kind = 266
	parameter     kind = 267
	lineComment   kind = 275
	blockComment  kind = 276
)

func (k kind) isComment() bool { return k == lineComment || k == blockComment }

func (k kind) isLiteral() bool {
	switch k {
	case decimal, simpleString, unicodeString, bitString, hexString, integer:
		return true
	default:
		return false
	}
}

// isFlat reports whether any number of such tokens does not deepen the tree.
func (k kind) isFlat() bool {
	return k == ',' || k == '.' || k == identifier || k == unicodeName || k == parameter || k.isLiteral() || k.isComment()
}

// token of a statement, with its byte offsets.
type token struct {
	from, to  int
	kind      kind
	isKeyword bool
}

// queries are the kinds of statements that are planned: INSERT, DELETE, UPDATE, MERGE, SELECT.
// VALUES and TABLE are SELECTs to the parser.
var queries = []protowire.Number{132, 133, 134, 135, 136}

// Fields of the parser's messages.
const (
	fieldTokens     = 2
	fieldFrom       = 1
	fieldTo         = 2
	fieldKind       = 4
	fieldKeyword    = 5
	fieldStatements = 2
	fieldStatement  = 1
)

// statementKinds returns the kinds of a tree's statements: the number of a statement's only field
// is its kind.
func statementKinds(tree []byte) ([]protowire.Number, error) {
	var kinds []protowire.Number
	err := eachIn(tree, fieldStatements, func(statement []byte) error {
		return eachIn(statement, fieldStatement, func(node []byte) error {
			return eachField(node, func(kind protowire.Number, _ uint64, _ []byte) error {
				kinds = append(kinds, kind)
				return nil
			})
		})
	})
	return kinds, err
}

// decodeTokens decodes a scan's result.
func decodeTokens(scanned []byte) ([]token, error) {
	var tokens []token
	err := eachIn(scanned, fieldTokens, func(message []byte) error {
		token, err := decodeToken(message)
		tokens = append(tokens, token)
		return err
	})
	return tokens, err
}

func decodeToken(message []byte) (read token, err error) {
	err = eachField(message, func(field protowire.Number, number uint64, _ []byte) error {
		switch field {
		case fieldFrom:
			read.from = int(int32(number))
		case fieldTo:
			read.to = int(int32(number))
		case fieldKind:
			read.kind = kind(int32(number))
		case fieldKeyword:
			read.isKeyword = number != 0
		default:
			// Other fields are not needed.
		}
		return nil
	})
	return read, err
}

// eachIn calls do with each message in a field.
func eachIn(message []byte, wanted protowire.Number, do func([]byte) error) error {
	return eachField(message, func(field protowire.Number, _ uint64, inner []byte) error {
		if field != wanted {
			return nil
		}
		return do(inner)
	})
}

// eachField calls do with each field of a message of numbers and messages.
func eachField(message []byte, do func(field protowire.Number, number uint64, inner []byte) error) error {
	for len(message) > 0 {
		var (
			number uint64
			inner  []byte
			length int
		)
		field, wire, begin := protowire.ConsumeTag(message)
		switch {
		case begin < 0:
			return fmt.Errorf("reading the parser's output: %w", protowire.ParseError(begin))
		case wire == protowire.VarintType:
			number, length = protowire.ConsumeVarint(message[begin:])
		case wire == protowire.BytesType:
			inner, length = protowire.ConsumeBytes(message[begin:])
		default:
			length = protowire.ConsumeFieldValue(field, wire, message[begin:])
		}
		if length < 0 {
			return fmt.Errorf("reading the parser's output: %w", protowire.ParseError(length))
		}
		if err := do(field, number, inner); err != nil {
			return err
		}
		message = message[begin+length:]
	}
	return nil
}
