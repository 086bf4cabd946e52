//go:build vendors

// Package vendors compares the project with the packages that the services themselves
// publish: theirs run in Node, ours in Go, and a test compares the results.
// docs/providers/README.md lists what is compared.
package vendors

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// scriptTimeout limits one script, which shares a slow machine with a sandbox.
const scriptTimeout = 4 * time.Minute

// RunScript runs a script of this directory with question as JSON on its standard input and
// decodes its JSON output into answer. loopback.cjs stops a script that reaches beyond this
// machine. The test's package is two folders deep.
func RunScript(t *testing.T, script string, question, answer any) {
	t.Helper()
	raw, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), scriptTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, "node", "--no-warnings", "--require", "./loopback.cjs", script)
	var out, said bytes.Buffer
	c.Dir, c.Stdin, c.Stdout, c.Stderr = filepath.Join("..", "..", "test", "vendors"), bytes.NewReader(raw), &out, &said
	if err := c.Run(); err != nil {
		t.Fatalf("%s: %v: %s", script, err, said.Bytes())
	}
	if err := json.Unmarshal(out.Bytes(), answer); err != nil {
		t.Fatalf("%s: %v: %.300s", script, err, out.Bytes())
	}
}

// A Count counts the values compared, by name.
type Count struct {
	t     *testing.T
	names []string
	n     map[string]int
}

// NewCount returns an empty Count. When the test has passed, a line for each name is
// written to its log and to the file that SWAPKEEP_REPORT names.
func NewCount(t *testing.T, subject string) *Count {
	c := &Count{t: t, n: map[string]int{}}
	t.Cleanup(func() {
		for _, name := range c.names {
			c.report(fmt.Sprintf("%-12s %6d  %s", subject, c.n[name], name))
		}
	})
	return c
}

// Same compares one value by its text form.
func (c *Count) Same(what, name string, ours, theirs any) {
	c.t.Helper()
	if c.n[name] == 0 {
		c.names = append(c.names, name)
	}
	c.n[name]++
	if a, b := fmt.Sprint(ours), fmt.Sprint(theirs); a != b {
		c.t.Errorf("%s: %s: ours %s, theirs %s", what, name, a, b)
	}
}

func (c *Count) report(line string) {
	c.t.Log(line)
	file := os.Getenv("SWAPKEEP_REPORT")
	if file == "" || c.t.Failed() {
		return
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		c.t.Error(err)
		return
	}
	_, errWrite := fmt.Fprintln(f, line)
	if err := f.Close(); err != nil || errWrite != nil {
		c.t.Error(err, errWrite)
	}
}
