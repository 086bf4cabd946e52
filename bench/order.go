package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"time"

	"swapkeep/providers/dex"
	"swapkeep/providers/gasless"
	"swapkeep/swap"
	"swapkeep/swap/engine"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// orderTurns is the number of orders timed, after a tenth as warm-up.
const orderTurns = 4000

// An orderKind is a provider's kind of signed order.
type orderKind struct {
	path     string // answered with the recorded quote; any other path is not found
	quote    upstream
	at       time.Time // time of the request, on all clocks
	provider func(base string, now func() time.Time) (swap.Provider, error)
	request  swap.QuoteRequest
	makerBps int
}

var (
	owner = common.HexToAddress(testAccount)

	jamOrder = orderKind{
		path: "/jam/arbitrum/v2/quote", quote: upstream{reply: "jam.json"}, at: time.Unix(recordedEnd, 0).Add(-quoteLife),
		provider: func(base string, now func() time.Time) (swap.Provider, error) {
			return gasless.New(gasless.Config{Base: base, Sandbox: true, Now: now})
		},
		request: swap.QuoteRequest{
			SrcChain: quoteChain, TokenOut: common.HexToAddress(string(quoteAsked.TokenOut)), AmountIn: quoteAsked.AmountIn.Int(),
		},
	}
	// dutchOrder is the API's documented example with the sandbox's cosigner.
	dutchOrder = orderKind{
		path: "/quote", quote: upstream{reply: "auction.json"}, at: time.Unix(1_800_000_000, 0).Add(-quoteLife),
		provider: func(base string, now func() time.Time) (swap.Provider, error) {
			return dex.New(dex.Config{Base: base, Sandbox: true, Now: now, OwnPrice: belowAuction})
		},
		request: swap.QuoteRequest{
			SrcChain: 8453, TokenIn: common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
			TokenOut: common.HexToAddress("0x4200000000000000000000000000000000000006"), AmountIn: big.NewInt(1_000_000_000),
			FeeBps: 40, FeeReceiver: common.HexToAddress("0x90F79bf6EB2c4f870365E785982E1f101E93b906"),
		},
		makerBps: 25,
	}
)

// belowAuction is a price of our own that the example's auction does not end below.
func belowAuction(context.Context, uint64, common.Address, common.Address, *big.Int) (*big.Int, error) {
	return big.NewInt(36e16), nil
}

// orderOf times the work between a quote and a signature that can be submitted: the quote
// is parsed, the order is built from the terms and compared, and the vault signs. With
// kept, the provider has already parsed and compared the quote. The limit is a signature
// of the same hash.
func orderOf(k orderKind, kept bool) measurement {
	return func(ctx context.Context, l *lab) (sides, error) {
		vault, err := unlockedVault(ctx, filepath.Join(l.dir, fmt.Sprint("orders-", strings.TrimSuffix(k.quote.reply, ".json"), kept)))
		if err != nil {
			return nil, err
		}
		defer vault.Lock()
		p, offer, err := k.offer(ctx)
		if err != nil {
			return nil, err
		}
		terms := k.terms(offer)
		typed, signature, err := signOrder(ctx, vault, p, offer, terms)
		if err == nil {
			err = signedBy(owner, typed, signature)
		}
		if err != nil {
			return nil, err
		}
		bare, err := bareSignature(typed)
		if err != nil {
			return nil, err
		}
		before := func() (err error) {
			if !kept { // a provider that has parsed nothing yet
				p, err = k.provider("http://127.0.0.1:1", func() time.Time { return k.at })
			}
			return err
		}
		return timeAlternately(ctx, l.sampleCount(orderTurns), before, func() error { _, _, err := signOrder(ctx, vault, p, offer, terms); return err }, bare)
	}
}

// offer requests one offer from the provider.
func (k orderKind) offer(ctx context.Context) (swap.Provider, swap.Offer, error) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Date", k.at.UTC().Format(http.TimeFormat))
		if r.URL.Path != k.path {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{}`))
			return
		}
		_, _ = w.Write(k.quote.at(time.Unix(recordedEnd, 0)))
	}))
	defer server.Close()
	p, err := k.provider(server.URL, func() time.Time { return k.at })
	if err != nil {
		return nil, swap.Offer{}, err
	}
	r := k.request
	r.Account, r.Recipient, r.RefundTo, r.DstChain, r.SlippageBps = owner, owner, owner, r.SrcChain, swap.DefaultSlippageBps
	offers, err := p.Quote(ctx, r)
	if err != nil || len(offers) != 1 {
		return nil, swap.Offer{}, errors.Join(err, fmt.Errorf("%d offers", len(offers)))
	}
	offer := offers[0]
	offer.Provider, offer.Request = p.Kind(), r.WithActualFee(offer.Fees)
	return p, offer, nil
}

// terms returns the terms that a user accepts for an offer.
func (k orderKind) terms(o swap.Offer) swap.Terms {
	r := o.Request
	return swap.Terms{
		Provider: o.Provider, Account: r.Account, SrcChain: r.SrcChain, TokenIn: r.TokenIn, AmountIn: r.AmountIn, DstChain: r.DstChain, TokenOut: r.TokenOut,
		Recipient: r.Recipient, MinOut: o.MinOut, Deadline: k.at.Add(10 * time.Minute), RefundTo: r.RefundTo,
		FeeBps: r.FeeBps, FeeReceiver: r.FeeReceiver, MakerFeeBps: k.makerBps, GasCeiling: big.NewInt(1e16), Wrap: o.Wrap,
	}
}

func signOrder(ctx context.Context, signer engine.TypedSigner, p swap.Provider, o swap.Offer, t swap.Terms) (typed apitypes.TypedData, signature []byte, err error) {
	built, err := p.Build(ctx, o, t)
	if err != nil {
		return typed, nil, err
	}
	typed = *built.Steps[len(built.Steps)-1].TypedData
	signature, err = signer.SignTypedData(ctx, t.Account, typed)
	return typed, signature, err
}

// signedBy checks that a signature is the account's.
func signedBy(account common.Address, typed apitypes.TypedData, signature []byte) error {
	digest, _, err := apitypes.TypedDataAndHash(typed)
	if err != nil {
		return err
	}
	recoverable := append([]byte{}, signature...)
	recoverable[64] -= 27
	key, err := crypto.SigToPub(digest, recoverable)
	if err != nil || crypto.PubkeyToAddress(*key) != account {
		return fmt.Errorf("the signature is not the account's: %w", err)
	}
	return nil
}
