package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"swapkeep/host/frame"
	"swapkeep/host/protocol"
	"swapkeep/host/transport"
	"swapkeep/keys"
)

// How many programs guess, and how often the right password is given meanwhile; "make
// guesses" uses more.
var (
	guessers = flag.Int("guessers", 4, "programs that guess without pause")
	rights   = flag.Int("rights", 2, "times that the right password is given")
)

const (
	longestWait = 30 * time.Second // for the right password
	right       = "seven purple llamas dance"
)

func init() { roles["guesser"], roles["opener"], roles["maker"] = guesser, opener, maker }

// ask sends one request on a new connection and returns the error's name, or "".
func ask(method, params string) (string, error) {
	conn, err := transport.Dial(context.Background(), transport.Instance{Home: os.Getenv("SWAPKEEP_HOME")})
	if err != nil {
		return "", err
	}
	defer conn.Close()
	to := frame.NewWriter(conn)
	attach := `{"jsonrpc":"2.0","id":1,"method":"host.attach","params":{"kind":"terminal","origin":"terminal","version":"test"}}`
	request := `{"jsonrpc":"2.0","id":2,"method":"` + method + `","params":` + params + `}`
	if err := errors.Join(to.Write([]byte(attach)), to.Write([]byte(request))); err != nil {
		return "", err
	}
	for from := frame.NewReader(conn); ; {
		body, err := from.Read()
		if err != nil {
			return "", err
		}
		var r protocol.Response
		if err := json.Unmarshal(body, &r); err != nil {
			return "", err
		}
		switch {
		case r.Error != nil:
			return r.Error.Name, nil
		case string(r.ID) == "2":
			return "", nil
		}
	}
}

// guesser sends wrong passwords without pause, each on a new connection, which looks to
// the daemon like a new program each time. When its input ends it prints how many were
// tried.
func guesser() {
	ended := make(chan struct{})
	go func() { _, _ = io.ReadAll(os.Stdin); close(ended) }()
	for tried, n := 0, 0; ; n++ {
		select {
		case <-ended:
			fmt.Println(tried)
			return
		default:
		}
		switch name, _ := ask("keys.unlock", fmt.Sprintf(`{"password":"wrong password number %d"}`, n)); name {
		case "wrong_password":
			tried++
		case "":
			time.Sleep(10 * time.Millisecond) // no connection: all are taken
		}
	}
}

// opener gives the right password a number of times and prints the results and times.
func opener() {
	times, _ := strconv.Atoi(os.Args[1])
	for range times {
		began := time.Now()
		name, err := ask("keys.unlock", `{"password":"`+right+`"}`)
		if err != nil {
			name = "unanswered"
		}
		fmt.Printf("%d %s\n", time.Since(began).Milliseconds(), name)
	}
}

func maker() {
	fmt.Println(ask("keys.create", `{"request":"a6f7d6d2-5d3f-4b1e-9a55-0c4b6d0b6a01","password":"`+right+`"}`))
}

// TestGuessingLocksNobodyOut: while many programs guess without pause, the real daemon
// accepts every right password at the first try and soon.
func TestGuessingLocksNobodyOut(t *testing.T) {
	u := someone(t)
	u.start("daemon", func(*bufio.Reader) error { return u.daemonReady() })
	if out, err := u.command("maker").CombinedOutput(); err != nil || !strings.Contains(string(out), "<nil>") {
		t.Fatalf("no wallet: %s, %v", out, err)
	}
	var ends []func()
	var said []func() string
	for range *guessers {
		cmd := u.command("guesser")
		in, err := cmd.StdinPipe()
		out := &strings.Builder{}
		cmd.Stdout = out
		if err = errors.Join(err, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, func() { _ = in.Close() })
		said = append(said, func() string { _ = cmd.Wait(); return strings.TrimSpace(out.String()) })
		t.Cleanup(func() { _ = cmd.Process.Signal(syscall.SIGKILL) })
	}
	began := time.Now()
	time.Sleep(2 * time.Second)
	out, err := u.command("opener", strconv.Itoa(*rights)).Output()
	if err != nil {
		t.Fatal(err)
	}
	var waits []time.Duration
	for line := range strings.Lines(string(out)) {
		took, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		ms, _ := strconv.Atoi(took)
		if waits = append(waits, time.Duration(ms)*time.Millisecond); name != "" {
			t.Errorf("the right password: %s after %s ms", name, took)
		}
	}
	tried := 0
	for _, end := range ends {
		end()
	}
	for _, of := range said {
		n, err := strconv.Atoi(of())
		if err != nil {
			t.Errorf("a guesser: %v", err)
		}
		tried += n
	}
	guessed := time.Since(began)
	slices.Sort(waits)
	if len(waits) != *rights || waits[len(waits)-1] > longestWait {
		t.Errorf("%d right passwords waited %v", len(waits), waits)
	}
	t.Logf("%d programs guessed %d times in %s, %.0f an hour; %d right passwords waited %s in the middle, %s at most",
		*guessers, tried, guessed.Round(time.Second), float64(tried)/guessed.Hours(), len(waits), waits[len(waits)/2], waits[len(waits)-1])
	if most := int(guessed/keys.DefaultAttemptInterval) + 2; tried > most {
		t.Errorf("%d guesses, where the pace lets %d", tried, most)
	}
}

// The throttle is short enough for the right password on one of many connections, and
// limits the guesses.
func TestPaceSuitsTheConnections(t *testing.T) {
	if wait := (protocol.MaxConnections - 1) * keys.DefaultAttemptInterval; wait > longestWait*9/10 {
		t.Errorf("the right password may wait %s for the others", wait)
	}
	if an := time.Hour / keys.DefaultAttemptInterval; an > 9000 {
		t.Errorf("%d guesses an hour", an)
	}
}
