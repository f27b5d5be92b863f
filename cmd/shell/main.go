// SPDX-License-Identifier: Apache-2.0

// Command shell is a minimal sh and curl in one program, selected by the name it is
// called by, for the released image of k6, which has neither. It supports what
// k6-operator's starter and its script wrapper need, and the requests of
// restore.http; it refuses everything else with a message.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// exitUsage is the exit code of sh and curl for unknown arguments.
const exitUsage = 2

func main() {
	os.Exit(call(context.Background(), filepath.Base(os.Args[0]), os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// streams are the standard streams of a process.
type streams struct{ in, out, problems *os.File }

// complain writes an error message; a failure to write can't be reported.
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
		files.complain(program, "unknown name: call this program sh or curl, for example by a link")
		return exitUsage
	}
}
