package web

import (
	"cmp"
	"time"
)

// Limits limit what clients may use. Zero fields take the value of [DefaultLimits].
type Limits struct {
	Connections int           // open at once; never above a quarter of the process's descriptors
	Streams     int           // event streams at once
	Charts      int           // charts read at once
	Header      int           // bytes of a request's header
	URL         int           // in bytes
	ReadHeader  time.Duration // to receive a request's header
	Write       time.Duration // to send an answer
	Idle        time.Duration // between two requests on a connection
	Fresh       time.Duration // for a new connection's first request while others wait
	Stalled     time.Duration // for a client to take a piece of an answer while others wait
	Drain       time.Duration // for answers in flight when the API stops
	Backend     time.Duration // for a call to the history, the cache, the limiter or the health check
	Heartbeat   time.Duration // between two heartbeats of a stream
	StreamWrite time.Duration // for a stream's client to take a message
}

// DefaultLimits suit a single machine.
func DefaultLimits() Limits {
	return Limits{
		Connections: 1024, Streams: 64, Charts: 16, Header: 8 << 10, URL: 4 << 10,
		ReadHeader: 5 * time.Second, Write: 30 * time.Second, Idle: time.Minute, Fresh: 500 * time.Millisecond, Stalled: 500 * time.Millisecond,
		Drain: 3 * time.Second, Backend: 3 * time.Second, Heartbeat: 15 * time.Second, StreamWrite: 10 * time.Second,
	}
}

// withDefaults fills the zero fields of l from d.
func (l Limits) withDefaults(d Limits) Limits {
	return Limits{
		Connections: cmp.Or(l.Connections, d.Connections), Streams: cmp.Or(l.Streams, d.Streams), Charts: cmp.Or(l.Charts, d.Charts),
		Header: cmp.Or(l.Header, d.Header), URL: cmp.Or(l.URL, d.URL), ReadHeader: cmp.Or(l.ReadHeader, d.ReadHeader),
		Write: cmp.Or(l.Write, d.Write), Idle: cmp.Or(l.Idle, d.Idle), Fresh: cmp.Or(l.Fresh, d.Fresh), Stalled: cmp.Or(l.Stalled, d.Stalled), Drain: cmp.Or(l.Drain, d.Drain),
		Backend: cmp.Or(l.Backend, d.Backend), Heartbeat: cmp.Or(l.Heartbeat, d.Heartbeat), StreamWrite: cmp.Or(l.StreamWrite, d.StreamWrite),
	}
}
