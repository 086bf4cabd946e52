package web

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"
)

// clients is the number of concurrent connections.
const clients = 8

// BenchmarkServer compares the hot requests with a bare net/http handler that writes the
// same bytes, over persistent loopback connections, in requests/s.
func BenchmarkServer(b *testing.B) {
	one := strings.ToLower(many(100)[40].Token.Address.Hex())
	for _, m := range []struct {
		name, target string
		tokens       int
	}{
		{"list-100", pricesPath, 100},
		{"list-10000", pricesPath, 10000},
		{"single-100", Base + "/tokens/" + one + "/price24h", 100},
		{"single-10000", Base + "/tokens/" + one + "/price24h?chain_id=1", 10000},
		{"list-100-long-way", pricesPath + "?limit=0000000100", 100},
	} {
		c := config()
		c.Feed.Publish(pricetable.New(8, then, many(m.tokens)))
		s := serve(b, c)
		body := s.get(b, m.target)
		if body.status != http.StatusOK {
			b.Fatal(body)
		}
		b.Run(m.name+"/ours", func(b *testing.B) { load(b, s.address, m.target) })
		b.Run(m.name+"/bare", func(b *testing.B) { load(b, bare200(b, body.body), m.target) })
	}
}

// bare200 serves a fixed body, the least that net/http can do.
func bare200(b *testing.B, body string) string {
	bytes := []byte(body)
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", jsonType)
		w.Header().Set("Content-Length", strconv.Itoa(len(bytes)))
		_, _ = w.Write(bytes)
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: time.Second}
	go func() { _ = s.Serve(l) }()
	b.Cleanup(func() { _ = s.Close() })
	return l.Addr().String()
}

// load sends b.N requests over the connections and reads every answer.
func load(b *testing.B, address, target string) {
	request := []byte("GET " + target + " HTTP/1.1\r\nHost: " + address + "\r\n\r\n")
	work := make(chan struct{}, 1024)
	var all sync.WaitGroup
	for range clients {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			b.Fatal(err)
		}
		all.Go(func() {
			defer func() { _ = conn.Close() }()
			in := bufio.NewReaderSize(conn, 64<<10)
			for range work {
				if err := exchange(conn, in, request); err != nil {
					b.Error(err)
				}
			}
		})
	}
	b.ResetTimer()
	for range b.N {
		work <- struct{}{}
	}
	close(work)
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

// exchange is a cheap HTTP client.
func exchange(conn net.Conn, in *bufio.Reader, request []byte) error {
	if _, err := conn.Write(request); err != nil {
		return err
	}
	length := 0
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) == 2 {
			_, err := in.Discard(length)
			return err
		}
		if text, ok := strings.CutPrefix(string(line), "Content-Length: "); ok {
			if length, err = strconv.Atoi(strings.TrimSpace(text)); err != nil {
				return err
			}
		}
	}
}

// A nobody is a ResponseWriter that discards everything.
type nobody struct{ header http.Header }

func (n nobody) Header() http.Header         { return n.header }
func (n nobody) Write(b []byte) (int, error) { return len(b), nil }
func (n nobody) WriteHeader(int)             {}

// BenchmarkHandler measures the API itself, without net/http.
func BenchmarkHandler(b *testing.B) {
	c := config()
	c.Hosts = []string{"here"}
	c.Feed.Publish(pricetable.New(8, then, many(10000)))
	a, err := New(c)
	if err != nil {
		b.Fatal(err)
	}
	for _, target := range []string{pricesPath, Base + "/tokens/" + many(1)[0].Token.Address.Hex() + "/price24h", pricesPath + "?limit=0000000100"} {
		b.Run(target[len(Base)+1:], func(b *testing.B) {
			r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "http://here"+target, nil)
			if err != nil {
				b.Fatal(err)
			}
			r.RequestURI = target
			w := nobody{http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				a.serve(w, r)
			}
		})
	}
}

// BenchmarkChart measures encoding a chart, without reading its candles.
func BenchmarkChart(b *testing.B) {
	week, _ := price.PeriodNamed("week")
	candles, err := (&charts{}).Chart(b.Context(), price.ID{Chain: 1}, week, then)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		newAnswer(appendCandles([]byte(`{"data":[]}`), candles), 0)
	}
}

// BenchmarkNewTable measures what delays the first request after a fetch.
func BenchmarkNewTable(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		all := pricetable.New(9, then, many(n))
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				s := newSnapshot(all)
				_, _ = io.Discard.Write(s.priceList(paginate(s.priced[0], 0, defaultLimit), n))
			}
		})
	}
}
