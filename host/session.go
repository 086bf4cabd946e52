package host

import (
	"swapkeep/host/protocol"

	"github.com/google/uuid"
)

// A session is a connection's right to act, opened by the password. It ends
// with a lock of the wallet, by whatever cause, and with the connection.
type session struct {
	id        string
	confirmed map[protocol.Address]bool // foreign recipients and refund addresses that the password was given for
}

// maxConfirmed foreign addresses are remembered in a session.
const maxConfirmed = 32

func (c *conn) sessionOf() *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// openSession is called when the password has been accepted; it reports
// whether the wallet has not been locked since.
func (c *conn) openSession() bool {
	c.mu.Lock()
	if c.session == nil {
		c.session = &session{id: uuid.NewString(), confirmed: map[protocol.Address]bool{}}
	}
	c.mu.Unlock()
	// A lock before this moment is seen here; one after it ends the session.
	if !c.s.Wallet.Unlocked() {
		c.closeSession()
		return false
	}
	return true
}

func (c *conn) closeSession() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session = nil
}

// needSession returns the open session or the error that says what to do.
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

// confirm remembers that the password was given for an address.
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
