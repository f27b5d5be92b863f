// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/load"
)

func TestScriptsAreToldApart(t *testing.T) {
	before := map[string]string{"main.js": "a", "lib.js": "b"}
	many := map[string]string{"main.js": "a"}
	for n := range 100 {
		many[fmt.Sprintf("lib-%d.js", n)] = "b"
	}
	lastOfMany := map[string]string{"main.js": "a"}
	for name, text := range many {
		lastOfMany[name] = text
	}
	lastOfMany["lib-99.js"] = "c"
	for name, test := range map[string]struct {
		before, now map[string]string
		says        string
	}{
		"the same":          {before, before, ""},
		"another script":    {before, map[string]string{"main.js": "c", "lib.js": "b"}, "main.js has sha256 "},
		"another import":    {before, map[string]string{"main.js": "a", "lib.js": "c"}, "lib.js has sha256 "},
		"an import is gone": {before, map[string]string{"main.js": "a"}, "lib.js is gone"},
		"an import is new":  {map[string]string{"main.js": "a"}, before, "lib.js is new"},
		"as many as can't be told, the last of them": {many, lastOfMany, "has sha256 "},
	} {
		said := load.ScriptChanged("main.js", load.ScriptOf("main.js", test.before), load.ScriptOf("main.js", test.now))
		if (said == "") != (test.says == "") || !strings.Contains(said, test.says) {
			t.Errorf("%s: %q, want %q", name, said, test.says)
		}
	}
}

func TestAsMuchOfAScriptIsKeptAsThereIsRoom(t *testing.T) {
	texts, leftOut := load.ScriptTexts("search", "main.js", map[string]string{
		"a-data.csv": strings.Repeat("x", 300<<10), "main.js": "script", "lib.js": "import",
	})
	if len(texts) != 2 || texts["search.main.js"] != "script" || texts["search.lib.js"] != "import" || !slices.Equal(leftOut, []string{"search.a-data.csv"}) {
		t.Errorf("kept %d texts, left out %q", len(texts), leftOut)
	}
}
