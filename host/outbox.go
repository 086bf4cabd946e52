package host

import (
	"errors"
	"net"
	"sync"
	"time"

	"swapkeep/host/frame"
	"swapkeep/host/protocol"
)

var errOutboxClosed = errors.New("connection is closed")

// An outbox is the queue of messages that a client has not read yet, at most MaxUnsent
// bytes, and writes them in order. Messages are wiped once written, because one may
// contain the words of a wallet.
type outbox struct {
	nc   net.Conn
	wait time.Duration // timeout for one message
	done chan struct{} // closed when the writer has ended

	mu     sync.Mutex
	change *sync.Cond // signals changes of the fields below
	queue  [][]byte
	bytes  int  // size of queue and of the message being written
	last   bool // no further messages are accepted; queued ones are sent
	closed bool // nothing more is sent
}

func newOutbox(nc net.Conn, wait time.Duration) *outbox {
	o := &outbox{nc: nc, wait: wait, done: make(chan struct{})}
	o.change = sync.NewCond(&o.mu)
	go o.run()
	return o
}

// offer queues a message if there is room, without waiting.
func (o *outbox) offer(body []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last || o.closed || !o.fits(body) {
		return false
	}
	o.put(body)
	return true
}

// send queues a message and waits for room. The wait is bounded: the writer gives up on a
// client that reads nothing for WriteTimeout.
func (o *outbox) send(body []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for !o.last && !o.closed && !o.fits(body) {
		o.change.Wait()
	}
	if o.last || o.closed {
		return errOutboxClosed
	}
	o.put(body)
	return nil
}

func (o *outbox) fits(body []byte) bool {
	return o.bytes == 0 || o.bytes+len(body) <= protocol.MaxUnsent
}

func (o *outbox) put(body []byte) {
	o.queue = append(o.queue, body)
	o.bytes += len(body)
	o.change.Broadcast()
}

// flush waits until everything is written or the writer has given up.
func (o *outbox) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.bytes > 0 && !o.closed {
		o.change.Wait()
	}
}

// finish accepts no further messages, waits until the queued ones are written and ends
// the writer.
func (o *outbox) finish() {
	o.mu.Lock()
	o.last = true
	o.change.Broadcast()
	o.mu.Unlock()
	<-o.done
}

// abort drops all queued messages.
func (o *outbox) abort() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for _, body := range o.queue {
		clear(body)
	}
	o.queue = nil
	o.change.Broadcast()
}

func (o *outbox) run() {
	defer close(o.done)
	out := frame.NewWriter(o.nc)
	for body := o.next(); body != nil; body = o.next() {
		_ = o.nc.SetWriteDeadline(time.Now().Add(o.wait))
		err := out.Write(body)
		o.written(body)
		if err != nil {
			o.abort()
			_ = o.nc.Close() // half a frame may have been sent, so nothing can follow
			return
		}
	}
}

// next returns the oldest message, or nil at the end.
func (o *outbox) next() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.queue) == 0 && !o.last && !o.closed {
		o.change.Wait()
	}
	if len(o.queue) == 0 {
		o.closed = true
		o.change.Broadcast()
		return nil
	}
	body := o.queue[0]
	o.queue[0] = nil
	o.queue = o.queue[1:]
	return body
}

func (o *outbox) written(body []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes -= len(body)
	clear(body)
	o.change.Broadcast()
}
