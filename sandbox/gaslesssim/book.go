package gaslesssim

// maxQuotes limits the stored quotes; the oldest are dropped.
const maxQuotes = 10_000

// A book holds quotes and their orders by id. It is guarded by the server's mutex.
type book struct {
	quotes map[string]*quote
	ids    []string // of the quotes, oldest first
}

func (b *book) add(q *quote) {
	if b.quotes == nil {
		b.quotes = map[string]*quote{}
	}
	if len(b.ids) >= maxQuotes {
		delete(b.quotes, b.ids[0])
		b.ids = b.ids[1:]
	}
	b.quotes[q.id] = q
	b.ids = append(b.ids, q.id)
}

func (s *Server) storeQuote(q *quote) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.book.add(q)
}

var errQuoteID = failure{210, "no such quote, or it is not valid for this request"}

// reserveQuote reserves a gasless quote of the request's protocol and chain for one order.
// Until release is called, other orders for it are refused.
func (s *Server) reserveQuote(r *request, id string) (*quote, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.book.quotes[id]
	if q == nil || q.protocol != r.protocol || q.market != r.market || q.taken || q.selfExecuted {
		return nil, errQuoteID
	}
	q.taken = true
	return q, nil
}

// release makes the quote usable again after its order was refused.
func (s *Server) release(q *quote) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q.taken = false
}

func (s *Server) storeOrder(o *order) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.quote.order = o
}

// orderOfQuote returns the order of a quote, or errQuoteID.
func (s *Server) orderOfQuote(r *request, id string) (*order, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.book.quotes[id]
	if q == nil || q.protocol != r.protocol || q.market != r.market || q.order == nil {
		return nil, errQuoteID
	}
	return q.order, nil
}

// orders returns the orders on chain m, or on all chains if m is nil, oldest quote first.
func (s *Server) orders(m *market) []*order {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*order
	for _, id := range s.book.ids {
		if q := s.book.quotes[id]; q.order != nil && (m == nil || q.market == m) {
			all = append(all, q.order)
		}
	}
	return all
}
