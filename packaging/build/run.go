package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"
)

// run runs a tool with a fixed time, time zone and language, so that its result depends
// only on its input. The error contains its output.
func (r *release) run(env []string, tool string, args ...string) error {
	_, err := r.output(env, tool, args...)
	return err
}

func (r *release) output(env []string, tool string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(r.ctx, tool, args...)
	cmd.Env = append(append(os.Environ(), "TZ=UTC", "LC_ALL=C", fmt.Sprint("SOURCE_DATE_EPOCH=", r.Time.Unix())), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", filepath.Base(tool), err, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.Bytes(), nil
}

// write writes a file with the release's time, and creates its directories.
func (r *release) write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return err
	}
	return os.Chtimes(path, r.Time, r.Time)
}

// copy copies a file with write.
func (r *release) copy(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return r.write(to, data)
}

// fill executes a template of packaging and writes the result.
func (r *release) fill(to, name string, data any) error {
	text, err := r.filled(name, data)
	if err != nil {
		return err
	}
	return r.write(to, text)
}

func (r *release) filled(name string, data any) ([]byte, error) {
	t, err := template.New(filepath.Base(name)).Funcs(template.FuncMap{"join": strings.Join, "upper": strings.ToUpper}).
		Option("missingkey=error").ParseFiles(filepath.Join("packaging", name))
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = t.Execute(&text, data)
	return text.Bytes(), err
}
