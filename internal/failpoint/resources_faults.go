//go:build faults

package failpoint

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"
)

// ResourceUsage are the resources that a process holds after a garbage collection.
type ResourceUsage struct {
	Goroutines, Descriptors int
	Heap, Objects           uint64         // bytes and number of objects in use
	RSS, Peak               uint64         // bytes of resident memory, now and at most
	Idle                    int            // HTTP connections kept for the next request: two goroutines and a descriptor each
	Begun                   map[string]int // goroutines by the function that started them
}

// SWAPKEEP_FAILPOINT_FIGURES=FOLDER makes the process write its figures to a file there,
// named by its process id, whenever there is no such file: remove it to get new ones.
func init() {
	if folder := os.Getenv("SWAPKEEP_FAILPOINT_FIGURES"); folder != "" {
		go keepFigures(filepath.Join(folder, strconv.Itoa(os.Getpid())))
	}
}

func keepFigures(path string) {
	for range time.Tick(20 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			continue
		}
		b, err := json.Marshal(measure())
		if err == nil && os.WriteFile(path+".new", b, 0o644) == nil {
			_ = os.Rename(path+".new", path)
		}
	}
}

func measure() ResourceUsage {
	debug.FreeOSMemory() // collects garbage, too
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f := ResourceUsage{Goroutines: runtime.NumGoroutine(), Heap: m.HeapAlloc, Objects: m.HeapObjects}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		f.Descriptors = len(open) - 1 // one reads the directory
	}
	status, _ := os.ReadFile("/proc/self/status")
	for s := bufio.NewScanner(bytes.NewReader(status)); s.Scan(); {
		name, value, _ := strings.Cut(s.Text(), ":")
		kib, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			f.RSS = kib << 10
		case "VmHWM":
			f.Peak = kib << 10
		}
	}
	f.Idle, f.Begun = stacks()
	return f
}

// begun matches the line of a goroutine's stack that says what started it.
var begun = regexp.MustCompile(`(?m)^created by (.+) in goroutine \d+$`)

// stacks inspects every goroutine. A connection whose reply was not read to its end is
// not idle.
func stacks() (idle int, from map[string]int) {
	var all bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&all, 2)
	from = map[string]int{}
	for stack := range strings.SplitSeq(all.String(), "\n\n") {
		if strings.Contains(stack, "\nnet/http.(*persistConn).readLoop(") && strings.Contains(stack, "\nbufio.(*Reader).Peek(") {
			idle++
		}
		if m := begun.FindStringSubmatch(stack); m != nil {
			from[m[1]]++
		}
	}
	return idle, from
}
