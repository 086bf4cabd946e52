// Fakedaemon replaces swapkeepd in tests of the connection to it: it owns a home, greets,
// and answers every request with its pid. If its home has a file "update", it answers
// host.hello with version_mismatch: the first one tells the side that the file names first
// (client or daemon) to update, the next ones name the following sides, the last of them
// repeatedly. Each refusal is written to the file "refused".
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"

	"swapkeep/host/frame"
	"swapkeep/host/owner"
	"swapkeep/host/protocol"
	"swapkeep/host/transport"
)

// lifetime limits how long a failed test can leave it behind.
const lifetime = 3 * time.Minute

var refusals atomic.Int64 // number of refused greetings

var instance = protocol.UUID(uuid.NewString())

func main() {
	err := serve()
	switch {
	case errors.Is(err, owner.ErrOwned):
		os.Exit(owner.ExitOwned)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve() error {
	home, err := transport.DefaultHome(os.Getenv)
	if err != nil {
		return err
	}
	place := transport.Instance{Home: home}
	o, err := owner.Acquire(place)
	if err != nil {
		return err
	}
	if err := appendToFile(home, "served", fmt.Sprintln(os.Getpid())); err != nil {
		return err
	}
	if err := appendToFile(home, "descriptors", descriptors()); err != nil {
		return err
	}
	l, err := o.Listen()
	if err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	var once sync.Once
	end := func() { once.Do(func() { _ = o.Close() }) }
	go func() {
		select {
		case <-stop:
		case <-time.After(lifetime):
		}
		end()
	}()
	for {
		conn, err := l.Accept()
		if err != nil {
			time.Sleep(20 * time.Millisecond) // the answer to host.stop is still being sent
			return nil
		}
		go answer(conn, place, end)
	}
}

// appendToFile appends text to a file in the home.
func appendToFile(home, name, text string) error {
	f, err := os.OpenFile(filepath.Join(home, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func descriptors() string {
	var list strings.Builder
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, entry := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + entry.Name()); err == nil {
			fmt.Fprintln(&list, entry.Name(), target)
		}
	}
	return list.String()
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

func answer(conn net.Conn, place transport.Instance, end func()) {
	defer func() { _ = conn.Close() }()
	in, out := frame.NewReader(conn), frame.NewWriter(conn)
	for {
		body, err := in.Read()
		if errors.Is(err, io.EOF) || err != nil && !frame.Recoverable(err) {
			return
		}
		var q request
		if err != nil || json.Unmarshal(body, &q) != nil {
			send(out, protocol.Response{JSONRPC: protocol.Version, ID: json.RawMessage("null"), Error: protocol.New("bad_json", "")})
			continue
		}
		send(out, response(q, place))
		switch q.Method {
		case "host.attach":
			send(out, protocol.Notification{JSONRPC: protocol.Version, Method: "host.hello", Params: hello(q.Params)})
		case "host.stop":
			end()
		}
	}
}

func hello(attach json.RawMessage) protocol.Hello {
	h := protocol.Hello{Product: "swapkeep", Version: "fake", State: protocol.DaemonRunning, Instance: instance, StateDirID: fmt.Sprint(os.Getpid())}
	_ = json.Unmarshal(attach, &h.Connection)
	return h
}

func response(q request, place transport.Instance) protocol.Response {
	sides, err := os.ReadFile(filepath.Join(place.Home, "update"))
	list := strings.Fields(string(sides))
	if err != nil || len(list) == 0 || q.Method != "host.hello" {
		return protocol.Response{JSONRPC: protocol.Version, ID: q.ID, Result: resultOf(q, place)}
	}
	side := list[min(int(refusals.Add(1)), len(list))-1]
	_ = appendToFile(place.Home, "refused", side+"\n")
	return protocol.Response{JSONRPC: protocol.Version, ID: q.ID, Error: protocol.New("version_mismatch", "").With("update", side)}
}

func resultOf(q request, place transport.Instance) json.RawMessage {
	result := map[string]any{"pid": os.Getpid(), "method": q.Method, "version": "fake", "state": protocol.DaemonRunning, "directory": place.Home, "instance": instance}
	b, err := json.Marshal(result)
	if err != nil {
		return json.RawMessage("{}")
	}
	return b
}

func send(out *frame.Writer, message any) {
	if body, err := json.Marshal(message); err == nil {
		_ = out.Write(body)
	}
}
