package gaslesssim

// maxQuotes limits the stored quotes; the oldest are dropped.
const maxQuotes = 10_000

// A book holds quotes and their orders by id. It is guarded by the server's mutex.
type book struct {
	quotes map[string]*quote
	oldest []string
}

func (b *book) add(q *quote) {
	if b.quotes == nil {
		b.quotes = map[string]*quote{}
	}
	if len(b.oldest) >= maxQuotes {
		delete(b.quotes, b.oldest[0])
		b.oldest = b.oldest[1:]
	}
	b.quotes[q.id] = q
	b.oldest = append(b.oldest, q.id)
}

func (s *Server) storeQuote(q *quote) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.book.add(q)
}

var errQuoteID = failure{210, "no such quote, or it has been used"}

// reserveQuote reserves a quote for one order. Further orders are refused until release is
// called.
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
	for _, id := range s.book.oldest {
		if q := s.book.quotes[id]; q.order != nil && (m == nil || q.market == m) {
			all = append(all, q.order)
		}
	}
	return all
}
