package sandbox

import (
	"slices"

	"swapkeep/sandbox/pricesim"
)

// priceServices returns the table rows of the price services, each on its own port.
func priceServices() (rows []provider) {
	for _, kind := range pricesim.Kinds() {
		rows = append(rows, provider{
			kind: kind, prices: true,
			paths: []pathKey{{"base_url", pricesim.Base(kind)}},
			open: func(o simulatorDeps) (*simulator, error) {
				p, err := pricesim.New(kind, o.market, nil)
				if err != nil {
					return nil, err
				}
				return simulate(p, p.Faults, nil), nil
			},
		})
	}
	return rows
}

// Prices returns the simulator of a price service; nil if the kind is unknown.
func (s *Sandbox) Prices(kind string) *pricesim.Server {
	if !slices.Contains(pricesim.Kinds(), kind) {
		return nil
	}
	return s.simulator(kind).Handler.(*pricesim.Server)
}
