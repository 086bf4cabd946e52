package web

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humamux"
	"github.com/ethereum/go-ethereum/common"
	"github.com/gorilla/mux"
)

// readMethods are the methods of every resource.
const readMethods = "GET, HEAD"

// A resource is one resource of the API's contract.
type resource struct {
	id, group, path, summary, about string
	record                          any // a zero value of what it answers
	stream                          bool
	open                            bool // needs no key
	problems                        []problemKind
}

// The resources. Problems that any resource may answer are not listed here.
var (
	health = resource{
		id: "health", group: "Service", path: "/health", summary: "Health", record: HealthRecord{}, open: true,
		about: "Checks the database and the cache. Status 200 if healthy or degraded, 503 if unhealthy, with the same record.",
	}
	stats = resource{
		id: "stats", group: "Service", path: "/stats", summary: "Fetch statistics", record: Statistics{}, problems: []problemKind{noHistory},
		about: "Counts the fetches since the history began.",
	}
	prices = resource{
		id: "prices", group: "Prices", path: "/tokens/price24h", summary: "Prices of many tokens, with 24-hour comparison", record: PriceList{}, problems: []problemKind{notFetched},
		about: "Tokens whose price is known, the largest market capitalisation first. Filters are combined with AND. If nothing matches, the list is empty. Stale values are the last known ones, with has_24h_data false; the header " + StaleHeader + " counts them.",
	}
	single = resource{
		id: "price", group: "Prices", path: "/tokens/{address}/price24h", summary: "Price of one token, with 24-hour comparison", record: TokenPrice{}, problems: []problemKind{unknownToken, noPrice},
		about: "The zero address is the native coin. Without chain_id, an address that is known on several networks means the token with the lowest chain id.",
	}
	tokenList = resource{
		id: "tokens", group: "Tokens", path: "/tokens", summary: "Monitored tokens", record: TokenList{},
		about: "All tokens unless limit is given, including those without a price yet, with source, age and staleness of every price.",
	}
	history = resource{
		id: "history", group: "Charts", path: "/tokens/{address}/history", summary: "Chart of one token", record: Chart{}, problems: []problemKind{unknownToken, noHistory},
		about: "Candles of the last 24 hours (5 minutes each), week (30 minutes) or month (4 hours). Without chain_id, an address that is known on several networks means the token with the lowest chain id.",
	}
	historyList = resource{
		id: "history-available", group: "Charts", path: "/tokens/history/available", summary: "Available charts", record: AvailableList{}, problems: []problemKind{noHistory},
		about: "Tokens with at least one candle, their periods, and the time of their oldest price.",
	}
	eventStream = resource{
		id: "events", group: "Prices", path: "/events", summary: "Price stream", record: PriceEvent{}, stream: true, problems: []problemKind{fullStreams},
		about: "Server-sent events. The first prices event holds every price; later ones, after each fetch, hold those that changed. A change of only the price 24 hours ago sends no event. The id grows with every publication since the service started. A client that reconnects, with or without Last-Event-ID, gets every price again. A comment every 15 seconds keeps the connection alive; an end event means that the service stops. A client that reads too slowly is disconnected.",
	}
)

// The parameters of the resources. Embedded structs are exported because huma requires it.
type (
	noInput struct{}

	// OnChain is the network of a list.
	OnChain struct {
		ChainID uint64 `query:"chain_id" minimum:"1" maximum:"9007199254740991" doc:"Chain id; all networks if absent." example:"1"`
	}

	pricesInput struct {
		OnChain
		Limit     uint64   `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Maximum number of items." example:"100"`
		Offset    uint64   `query:"offset" minimum:"0" maximum:"1000000000" default:"0" doc:"Number of items to skip." example:"0"`
		Addresses []string `query:"addresses" nullable:"false" maxItems:"100" pattern:"^0x[0-9a-fA-F]{40}$" doc:"Token contracts, separated by commas; the zero address is the native coin." example:"0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"`
		Symbols   []string `query:"symbols" nullable:"false" maxItems:"100" minLength:"1" maxLength:"40" doc:"Ticker symbols, separated by commas; case-insensitive." example:"WETH,USDC"`
	}

	tokensInput struct {
		OnChain
		Limit  uint64 `query:"limit" minimum:"1" maximum:"1000" doc:"Maximum number of tokens; if absent all, or with an offset 1000." example:"100"`
		Offset uint64 `query:"offset" minimum:"0" maximum:"1000000000" default:"0" doc:"Number of tokens to skip." example:"0"`
	}

	// OfToken identifies one token.
	OfToken struct {
		Address string `path:"address" pattern:"^0x[0-9a-fA-F]{40}$" doc:"Token contract; the zero address is the native coin." example:"0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"`
		ChainID uint64 `query:"chain_id" minimum:"1" maximum:"9007199254740991" doc:"Chain id; if absent, the lowest on which the address is known." example:"1"`
	}

	historyInput struct {
		OfToken
		Period string `query:"period" enum:"24h,week,month" default:"24h" doc:"Time span ending now." example:"week"`
	}
)

func (in pricesInput) page() listKey {
	return listKey{chain: in.ChainID, limit: int(in.Limit), offset: int(in.Offset)} // both validated
}

func (a *API) route() {
	// Paths are matched exactly as sent, without cleaning and redirects.
	a.router = mux.NewRouter().SkipClean(true).UseEncodedPath()
	a.router.NotFoundHandler = refusing(unknownPath.problem("no resource has this path"))
	a.router.MethodNotAllowedHandler = refusing(wrongMethod.problem("only GET and HEAD are allowed").with("Allow", readMethods))
	a.docs = humamux.New(a.router, a.documentation())
	a.docs.UseMiddleware(checkQueryForm)

	add(a, health, func(w http.ResponseWriter, r *http.Request, _ *noInput) { a.health(w, r) })
	add(a, stats, func(w http.ResponseWriter, r *http.Request, _ *noInput) { a.stats(w, r) })
	add(a, prices, func(w http.ResponseWriter, r *http.Request, in *pricesInput) {
		a.prices(w, r, in.page(), filter{in.Addresses, in.Symbols})
	})
	add(a, single, func(w http.ResponseWriter, r *http.Request, in *OfToken) {
		a.price(w, r, common.HexToAddress(in.Address), in.ChainID)
	})
	add(a, tokenList, func(w http.ResponseWriter, r *http.Request, in *tokensInput) {
		if in.Offset > 0 && in.Limit == 0 { // the full list is one cached answer, but its parts are many
			in.Limit = maxLimit
		}
		a.tokens(w, r, listKey{of: tokensList, chain: in.ChainID, limit: int(in.Limit), offset: int(in.Offset)})
	})
	add(a, historyList, func(w http.ResponseWriter, r *http.Request, in *OnChain) { a.available(w, r, in.ChainID) })
	add(a, history, func(w http.ResponseWriter, r *http.Request, in *historyInput) {
		a.history(w, r, common.HexToAddress(in.Address), in.ChainID, in.Period)
	})
	add(a, eventStream, func(w http.ResponseWriter, r *http.Request, _ *noInput) { a.events(w, r) })
	a.routePages()
}

// add registers a resource, whose input type defines its parameters.
func add[In any](a *API, res resource, serve func(http.ResponseWriter, *http.Request, *In)) {
	huma.Register(a.docs, a.operation(res), func(_ context.Context, in *In) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(c huma.Context) {
			r, w := humamux.Unwrap(c)
			serve(w, r, in)
		}}, nil
	})
}

func refusing(p *Problem) http.Handler {
	return http.HandlerFunc(p.write)
}
