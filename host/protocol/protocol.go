// Package protocol defines the wire between swapkeepd and its clients as Go values:
// versions, limits, methods with their parameters and results, notifications and the
// error table. docs/protocol-reference.md and the extension's types are generated from it. It
// has no behaviour and imports nothing else of this project, so that every client can use
// it.
package protocol

//go:generate go run ./gen

import (
	"encoding/json"
	"time"
)

// The protocol versions that this build speaks, both inclusive. A newer version adds
// methods, fields and error rows; within the range nothing is removed.
const (
	MinVersion = 1
	MaxVersion = 1
)

// Limits, per connection unless stated otherwise.
const (
	MaxRequest     = 1 << 20  // bytes of one inbound message, inclusive
	MaxResult      = 1 << 20  // bytes of one outbound message, inclusive; browsers enforce it
	MaxDrain       = 64 << 20 // bytes of an over-long message that are skipped before the connection is closed
	MaxRunning     = 64       // requests in progress
	MaxQueued      = 256      // further requests waiting
	MaxAsking      = 8        // requests in progress that call a network or a provider
	MaxQuoting     = 8        // quotes and plans in progress of one origin, over all its connections
	MaxInFlight    = 4 << 20  // bytes of unanswered requests
	MaxInFlightAll = 32 << 20 // the same, over all connections
	MaxUnsent      = 8 << 20  // bytes of replies and notifications not yet read by the client
	MaxConnections = 64       // connections of one daemon
	MaxBrowsers    = 56       // connections of browsers; the rest is reserved so that a terminal can always stop the daemon
	MaxPerProcess  = 8        // connections of one process, where the system reports it: a relay and a command need one
	MaxID          = 128      // bytes of a request id
	MaxText        = 256      // bytes of a text parameter
	MaxList        = 200      // elements of a list parameter
	MaxSecret      = 4096     // bytes of a password, the words of a wallet or a key file
	MaxHistory     = 1000     // history lines in one answer of swap.order, the newest ones
	PageDefault    = 50       // entries of a page
	PageMax        = 200      // maximum entries of a page
	MaxRemembered  = 1024     // request uuids of key methods that the daemon remembers
)

// Timeouts.
const (
	AttachTimeout  = 5 * time.Second  // for the first message
	WriteTimeout   = 10 * time.Second // for a client to take one message
	RequestTimeout = 2 * time.Minute  // for one request to be answered
)

// A Limit is a row of the limits table in docs/protocol-reference.md.
type Limit struct {
	Name  string
	Value int64
	Unit  string
	Over  string // what happens above it
}

// Limits is the limits table.
var Limits = []Limit{
	{"message to the daemon", MaxRequest, "bytes", "skipped and answered with frame_too_long"},
	{"message skipped whole", MaxDrain, "bytes", "connection closed"},
	{"message from the daemon", MaxResult, "bytes", "lists are paged by cursor; else result_too_large"},
	{"requests being answered", MaxRunning, "requests", "the next ones wait"},
	{"of those, asking a network or a provider", MaxAsking, "requests", "the next ones wait"},
	{"quotes and plans under way, one origin", MaxQuoting, "requests", "the next ones wait"},
	{"requests waiting", MaxQueued, "requests", "answered with busy at once"},
	{"unanswered requests, one connection", MaxInFlight, "bytes", "answered with busy at once"},
	{"unanswered requests, all connections", MaxInFlightAll, "bytes", "answered with busy at once"},
	{"unread replies and notifications", MaxUnsent, "bytes", "connection closed"},
	{"connections", MaxConnections, "connections", "answered with busy, then closed"},
	{"connections of one process", MaxPerProcess, "connections", "answered with busy, then closed"},
	{"connections of browsers", MaxBrowsers, "connections", "answered with busy, then closed"},
	{"request id", MaxID, "bytes", "refused with invalid_request"},
	{"text parameter", MaxText, "bytes", "refused with bad_params"},
	{"list parameter", MaxList, "elements", "refused with bad_params"},
	{"password, words of a wallet, or key file", MaxSecret, "bytes", "refused with bad_params"},
	{"page", PageMax, "entries", "refused with bad_params"},
	{"history of one order", MaxHistory, "lines", "older lines are left out and counted"},
	{"request uuids of key methods", MaxRemembered, "uuids", "the oldest is forgotten"},
	{"first message", int64(AttachTimeout / time.Second), "seconds", "attach_required, then closed"},
	{"client taking a message", int64(WriteTimeout / time.Second), "seconds", "connection closed"},
	{"answering a request", int64(RequestTimeout / time.Second), "seconds", "timed_out"},
}

// Version is the JSON-RPC version in every message.
const Version = "2.0"

// A Request is one message to the daemon.
type Request struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"` // string or integer
	Method  string          `json:"method"`
	Params  any             `json:"params,omitempty"`
}

// A Response answers one request. Exactly one of Result and Error is set. ID is null if
// the request's id could not be read.
type Response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// A Notification is a message from the daemon that is not a response.
type Notification struct {
	JSONRPC string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}
