package main

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

const sandboxes = 5

// measureSandbox times the sandbox from before its process is created until it reports
// that its four chains and all providers are ready.
func measureSandbox(ctx context.Context, l *lab) (sides, error) {
	var samples []float64
	for i := range l.sampleCount(sandboxes) {
		took, err := l.sandbox(ctx, filepath.Join(l.dir, "sandbox-"+strconv.Itoa(i)))
		if err != nil {
			return nil, err
		}
		samples = append(samples, float64(took))
	}
	return ours(samples, nil)
}

func (l *lab) sandbox(ctx context.Context, dir string) (took time.Duration, err error) {
	cmd := exec.CommandContext(ctx, filepath.Join(l.bin, "swapkeep-sandbox"), "--dir", dir, "--contracts", filepath.Join("build", "contracts"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	_, err = bufio.NewReader(out).ReadBytes('\n')
	took = time.Since(began)
	return took, errors.Join(err, cmd.Process.Signal(os.Interrupt), cmd.Wait())
}
