// SPDX-License-Identifier: Apache-2.0

// Command shell is sh and curl in one program, by the name it is called by, for the
// released image of k6, which has no others. It can what k6-operator's starter and
// its wrapper of scripts take, and the calls of restore.http; what else these
// programs can is refused with a sentence.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// exitUsage is what sh and curl both say to arguments they do not know.
const exitUsage = 2

func main() {
	os.Exit(call(context.Background(), filepath.Base(os.Args[0]), os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// streams are the three files of a process.
type streams struct{ in, out, problems *os.File }

// complain says what is wrong in the way programs do; nobody is left to tell if that fails.
func (s streams) complain(program string, problem any) {
	_, _ = fmt.Fprintf(s.problems, "%s: %v\n", program, problem)
}

func call(ctx context.Context, program string, arguments []string, files streams) int {
	switch program {
	case "sh":
		return runShell(ctx, arguments, files)
	case "curl":
		return runCurl(ctx, arguments, files)
	default:
		files.complain(program, "this program is sh or curl, by the name it is called by: link one of them to it")
		return exitUsage
	}
}
