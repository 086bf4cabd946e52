package webtest

import (
	"fmt"
	"math"
	"math/big"
	"net/http"
	"strconv"
	"strings"
)

// meaning checks the content of values in addition to their format. Prices may change
// meanwhile, so findings count only if the list did not change.
func (c *contract) meaning() {
	const path = "/tokens/price24h?limit=1000"
	for range 5 {
		before, _ := c.get(path, http.StatusOK)
		envelope, items := c.items(path)
		found := c.findings(envelope, items)
		if after, _ := c.get(path, http.StatusOK); after.Header.Get("ETag") == before.Header.Get("ETag") {
			for _, err := range found {
				c.Error(err)
			}
			return
		}
	}
	c.Fatal("prices change too often to be compared")
}

func (c *contract) findings(envelope record, items []record) (found []error) {
	with24h := 0
	for i, item := range items {
		if err := arithmetic(item); err != nil {
			found = append(found, fmt.Errorf("item %d: %w", i, err))
		}
		if item.values["has_24h_data"] == "true" {
			with24h++
		}
		if i > 0 && decimal(item.text("market_cap")).Cmp(decimal(items[i-1].text("market_cap"))) > 0 {
			found = append(found, fmt.Errorf("item %d has a larger market cap than the one before", i))
		}
	}
	if number(envelope.values["has_24h_data_count"]) != with24h {
		found = append(found, fmt.Errorf("has_24h_data_count is %s, and %d items have it", envelope.values["has_24h_data_count"], with24h))
	}
	if total := number(envelope.values["total_count"]); len(items) != min(total, 1000) {
		found = append(found, fmt.Errorf("total_count is %d, and there are %d items", total, len(items)))
	}
	for _, item := range items[:min(sample, len(items))] {
		found = append(found, c.single(item)...)
	}
	return found
}

// arithmetic checks that the change is the difference of the prices, and that all are zero
// without 24 hours of data.
func arithmetic(item record) error {
	now, ago, change := decimal(item.text("price_now")), decimal(item.text("price_24h_ago")), decimal(item.text("change_abs"))
	percent, err := strconv.ParseFloat(item.values["change_pct"], 64)
	if err != nil || now.Sign() <= 0 {
		return fmt.Errorf("price_now %s, change_pct %s", now, item.values["change_pct"])
	}
	if item.values["has_24h_data"] != "true" {
		if ago.Sign() != 0 || change.Sign() != 0 || percent != 0 || strings.HasPrefix(item.text("change_abs"), "-") {
			return fmt.Errorf("no 24 hours of data, and price_24h_ago %s, change_abs %s, change_pct %g", ago, change, percent)
		}
		return nil
	}
	if difference := new(big.Rat).Sub(now, ago); difference.Cmp(change) != 0 || ago.Sign() <= 0 {
		return fmt.Errorf("change_abs %s, and %s - %s is %s", change.FloatString(18), now.FloatString(18), ago.FloatString(18), difference.FloatString(18))
	}
	want, _ := new(big.Rat).Mul(big.NewRat(100, 1), new(big.Rat).Quo(change, ago)).Float64()
	if math.Abs(want-percent) > 1e-6+1e-9*math.Abs(want) {
		return fmt.Errorf("change_pct %g, want %g", percent, want)
	}
	return nil
}

// single checks that the single-token record agrees with the list item.
func (c *contract) single(item record) (found []error) {
	c.Helper()
	path := "/tokens/" + item.text("token_address") + "/price24h?chain_id=" + item.values["chain_id"]
	one := c.record(path, "single-token price record")
	for _, name := range []string{"token_address", "chain_id", "symbol", "name"} {
		if one.values[name] != item.values[name] {
			found = append(found, fmt.Errorf("%s: %s is %s, in the list %s", path, name, one.values[name], item.values[name]))
		}
	}
	for _, name := range []string{"price_now", "price_24h_ago"} {
		if decimal(one.values[name]).Cmp(decimal(item.text(name))) != 0 {
			found = append(found, fmt.Errorf("%s: %s is %s, in the list %s", path, name, one.values[name], item.values[name]))
		}
	}
	return found
}

// unchanged checks HEAD and If-None-Match.
func (c *contract) unchanged() {
	c.Helper()
	const path = "/tokens/price24h?limit=5"
	res, body := c.get(path, http.StatusOK)
	head, none := c.do(http.MethodHead, path, nil, http.StatusOK)
	if head.ContentLength != int64(len(body)) || len(none) > 0 {
		c.Errorf("HEAD promises %d bytes of %d", head.ContentLength, len(body))
	}
	tag := res.Header.Get("ETag")
	if !strings.HasPrefix(tag, `"`) {
		c.Fatalf("the tag %q is not a strong one", tag)
	}
	// Prices may have been fetched in between, which changes the tag.
	if again, _ := c.get(path, http.StatusOK); again.Header.Get("ETag") == tag {
		c.do(http.MethodGet, path, http.Header{"If-None-Match": {tag}}, http.StatusNotModified)
	}
}

// refusals checks that wrong requests are rejected with a remedy.
func (c *contract) refusals() {
	unknown := "/tokens/0x000000000000000000000000000000000000dEaD"
	for path, status := range map[string]int{
		unknown + "/price24h":              404,
		unknown + "/price24h?chain_id=1":   404,
		"/nothing":                         404,
		"/health/":                         404,
		"//health":                         404,
		"/tokens/0x12/price24h":            422,
		"/tokens/price24h?limit=0":         422,
		"/tokens/price24h?limit=1001":      422,
		"/tokens/price24h?limit=ten":       422,
		"/tokens/price24h?chain_id=":       422,
		"/tokens/price24h?chain_id=-1":     422,
		"/tokens/price24h?limit=1&limit=2": 422,
		"/tokens?chain=1":                  422,
	} {
		c.problem(http.MethodGet, path, status)
	}
}

// problem expects an RFC 9457 problem.
func (c *contract) problem(method, path string, status int) {
	c.Helper()
	res, body := c.do(method, path, nil, status)
	p, err := parse(body)
	if err != nil {
		c.Errorf("%s %s: %v", method, path, err)
		return
	}
	if kind := res.Header.Get("Content-Type"); kind != "application/problem+json" {
		c.Errorf("%s %s: a problem is %q", method, path, kind)
	}
	for _, name := range []string{"type", "title", "detail", "remedy"} {
		if p.text(name) == "" {
			c.Errorf("%s %s: the problem has no %s: %s", method, path, name, body)
		}
	}
	if number(p.values["status"]) != status {
		c.Errorf("%s %s: the problem says %s, the status is %d", method, path, p.values["status"], status)
	}
	if status == http.StatusMethodNotAllowed && res.Header.Get("Allow") != "GET, HEAD" {
		c.Errorf("%s %s: allowed is %q", method, path, res.Header.Get("Allow"))
	}
}

// number parses an integer; -1 if it is none.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// decimal parses a number exactly; -1 if it is none.
func decimal(text string) *big.Rat {
	if r, ok := new(big.Rat).SetString(text); ok {
		return r
	}
	return big.NewRat(-1, 1)
}
