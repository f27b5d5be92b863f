// SPDX-License-Identifier: AGPL-3.0-only

// Package start runs k6 with a tail: when k6 ends, its last log lines are printed again, without
// secrets.
package start

import (
	"context"
	"runtime"
	_ "unsafe" // for go:linkname

	"go.k6.io/k6/v2/cmd/state"

	_ "go.k6.io/k6/v2/cmd" // contains the linked function

	"perflab.dev/perflab/k6/tail"
)

// execute is the function that cmd.Execute calls. k6 has no hook before it has read the script.
// An output starts too late, because errors until then matter most. A k6 without this function
// does not link.
//
//go:linkname execute go.k6.io/k6/v2/internal/cmd.ExecuteWithGlobalState
func execute(*state.GlobalState)

// Execute runs k6, from its arguments to its exit code.
func Execute() {
	k6 := state.NewGlobalState(context.Background())
	kept := tail.New(k6.Env)
	k6.Logger.AddHook(kept)
	exit := k6.OSExit
	k6.OSExit = func(code int) {
		kept.Print(k6.Stdout)
		exit(code)
	}
	held := spare(k6.Env)
	execute(k6)
	runtime.KeepAlive(held)
}
