package host

import (
	"swapkeep/host/protocol"

	"github.com/google/uuid"
)

// A session is a connection's right to act, opened with the password. Any lock of the
// wallet ends it, as does the end of the connection.
type session struct {
	id        string
	ended     chan struct{}             // closed when it ends
	confirmed map[protocol.Address]bool // foreign recipients and refund addresses that the password was given for
}

// maxConfirmed is how many foreign addresses a session remembers.
const maxConfirmed = 32

func (c *conn) sessionOf() *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// openSession opens a session after the password was accepted. It returns false if the
// wallet has been locked since.
func (c *conn) openSession() bool {
	c.mu.Lock()
	if c.session == nil {
		c.session = &session{id: uuid.NewString(), ended: make(chan struct{}), confirmed: map[protocol.Address]bool{}}
	}
	c.mu.Unlock()
	// A lock before this point is seen here; a later one ends the session.
	if !c.s.Wallet.Unlocked() {
		c.closeSession()
		return false
	}
	return true
}

func (c *conn) closeSession() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != nil {
		close(c.session.ended)
	}
	c.session = nil
}

// needSession returns the open session, or locked or session_required.
func (c *conn) needSession() (*session, *protocol.Error) {
	s := c.sessionOf()
	switch {
	case !c.s.Wallet.Unlocked():
		return nil, protocol.New("locked", "")
	case s == nil:
		return nil, protocol.New("session_required", "")
	}
	return s, nil
}

// confirm records that the password was given for an address.
func (c *conn) confirm(a protocol.Address) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != nil && len(c.session.confirmed) < maxConfirmed {
		c.session.confirmed[a] = true
	}
}

func (c *conn) isConfirmed(a protocol.Address) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session != nil && c.session.confirmed[a]
}
