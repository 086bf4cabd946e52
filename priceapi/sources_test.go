package priceapi_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/priceapi"
)

// nobody is a Chain without networks.
type nobody struct{}

func (nobody) Ask(context.Context, uint64, []chain.Question) ([][]byte, error) {
	return nil, chain.ErrNoNetwork
}

// TestSources checks which services are opened and in which roles.
func TestSources(t *testing.T) {
	for _, c := range []struct {
		name                                 string
		of                                   map[string]priceapi.Setting
		local                                bool
		leading, further, almanacs, archives int
	}{
		{"by default", nil, false, 2, 4, 6, 1},
		{"in the sandbox without addresses", nil, true, 1, 0, 1, 0},
		{"with another server's price API", map[string]priceapi.Setting{priceapi.Hosted: {Base: "https://prices.example"}}, false, 3, 4, 7, 1},
		{"without the widest", map[string]priceapi.Setting{priceapi.DefiLlama: {Disabled: true}}, false, 1, 4, 5, 0},
		{"without the chains", map[string]priceapi.Setting{priceapi.OnChain: {Disabled: true}}, false, 1, 4, 5, 1},
	} {
		s, err := priceapi.Settings{Of: c.of, Local: c.local, Chain: nobody{}, Now: time.Now}.Open()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := []int{len(s.Leading), len(s.Further), len(s.MetadataSources), len(s.Archives)}, []int{c.leading, c.further, c.almanacs, c.archives}; !slices.Equal(got, want) {
			t.Errorf("%s: %v leading, further, metadata and archives; want %v", c.name, got, want)
		}
		s.Close()
	}
	if _, err := (priceapi.Settings{Of: map[string]priceapi.Setting{priceapi.DefiLlama: {Base: "http://127.0.0.1:1"}}, Now: time.Now}).Open(); err == nil {
		t.Error("a service on this machine is taken for one outside")
	}
}
