// Package webtest checks a running price API against every table of its spec over HTTP,
// whether embedded or hosted.
package webtest

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// maxBody limits an answer, in bytes.
const maxBody = 16 << 20

// sample is how many tokens are requested individually.
const sample = 25

// A contract is one run of the checks.
type contract struct {
	testing.TB
	base   string // including /api/v1
	client *http.Client
	fields map[string]table // of records, by their name in the endpoint table
}

// records maps the records' names to the headings of their tables.
var records = map[string]string{
	"health record":             "Health record",
	"statistics record":         "Statistics record",
	"token price list envelope": "Token price list envelope",
	"token price item":          "Token price item (list endpoint)",
	"single-token price record": "Single-token price record",
}

// Contract checks every table of the spec against the API at baseURL, such as
// http://127.0.0.1:5330. It needs prices on all chains of the spec; client may add an API
// key to its requests.
func Contract(t testing.TB, baseURL string, client *http.Client) {
	t.Helper()
	direct := *client
	direct.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c := &contract{TB: t, base: strings.TrimSuffix(baseURL, "/") + "/api/v1", client: &direct, fields: map[string]table{}}
	var checks []func()
	for _, of := range tables(spec) {
		switch {
		case of.columns[0] == "Field":
			for word, heading := range records {
				if heading == of.heading {
					c.fields[word] = of
				}
			}
		case of.columns[0] == "Chain ID":
			checks = append(checks, func() { c.chains(of) })
		case of.columns[0] == "Method":
			checks = append(checks, func() { c.endpoints(of) })
		case of.heading == "8. Limits":
			checks = append(checks, func() { c.limits(of) })
		default:
			t.Errorf("the spec's table under %q is checked by nobody", of.heading)
		}
	}
	if len(c.fields) != len(records) {
		t.Fatalf("%d of %d records of the spec were found", len(c.fields), len(records))
	}
	for _, check := range append(checks, c.meaning, c.unchanged, c.refusals) {
		check()
	}
}

func (c *contract) get(path string, status int) (*http.Response, []byte) {
	c.Helper()
	return c.do(http.MethodGet, path, nil, status)
}

func (c *contract) do(method, path string, header http.Header, status int) (*http.Response, []byte) {
	c.Helper()
	req, err := http.NewRequestWithContext(c.Context(), method, c.base+path, nil)
	if err != nil {
		c.Fatal(err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	res, err := c.client.Do(req)
	if err != nil {
		c.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }() // read to its end, or the test fails
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if err != nil {
		c.Fatal(err)
	}
	if res.StatusCode != status {
		c.Fatalf("%s %s: status %d, want %d: %.300s", method, path, res.StatusCode, status, body)
	}
	return res, body
}

// record requests a record and checks it against its table.
func (c *contract) record(path, word string) record {
	c.Helper()
	res, body := c.get(path, http.StatusOK)
	if kind := res.Header.Get("Content-Type"); kind != "application/json" {
		c.Errorf("%s is %q", path, kind)
	}
	r, err := parse(body)
	if err != nil {
		c.Fatalf("%s: %v", path, err)
	}
	if fields, known := c.fields[word]; known {
		if err := r.check(fields); err != nil {
			c.Errorf("%s: %v", path, err)
		}
	}
	return r
}

// items requests a price list and checks each item.
func (c *contract) items(path string) (record, []record) {
	c.Helper()
	envelope := c.record(path, "token price list envelope")
	items := c.list(path, envelope)
	for i, item := range items {
		if err := item.check(c.fields["token price item"]); err != nil {
			c.Fatalf("%s, item %d: %v", path, i, err)
		}
	}
	return envelope, items
}

func (c *contract) list(path string, envelope record) []record {
	c.Helper()
	items, err := envelope.list("data")
	if err != nil {
		c.Fatalf("%s: %v", path, err)
	}
	return items
}

// chains checks that every chain of the spec is monitored and that the chain filter works.
func (c *contract) chains(of table) {
	for _, row := range of.rows {
		path := "/tokens?chain_id=" + row[0]
		if len(c.list(path, c.record(path, ""))) == 0 {
			c.Errorf("chain %s is %s in the spec, and none of its tokens is monitored", row[0], row[1])
		}
		_, items := c.items("/tokens/price24h?chain_id=" + row[0])
		if len(items) == 0 {
			c.Errorf("chain %s has no prices", row[0])
		}
		for _, item := range items {
			if item.values["chain_id"] != row[0] {
				c.Errorf("chain %s: a token of chain %s is listed", row[0], item.values["chain_id"])
			}
		}
	}
}

// endpoints checks that every path returns its record, with every parameter and without.
func (c *contract) endpoints(of table) {
	_, items := c.items("/tokens/price24h?limit=1")
	if len(items) == 0 {
		c.Fatal("there is no price to check the contract with")
	}
	values := map[string]string{"chain_id": items[0].values["chain_id"], "limit": "1", "address": items[0].text("token_address")}
	for _, row := range of.rows {
		all, ok := parameters(row[2])
		if !ok || row[0] != http.MethodGet {
			c.Errorf("the spec's row of %s is not understood: %q", row[1], row)
			continue
		}
		path, query := row[1], []string{}
		for _, p := range all {
			switch {
			case values[p.name] == "":
				c.Errorf("%s: no value is known for the parameter %q", row[1], p.name)
			case p.path:
				path = strings.ReplaceAll(path, "{"+p.name+"}", values[p.name])
			default:
				query = append(query, p.name+"="+values[p.name])
			}
		}
		c.endpoint(path, query, row[3])
	}
}

func (c *contract) endpoint(path string, query []string, word string) {
	if _, known := c.fields[word]; !known && word != "lists all monitored tokens" {
		c.Errorf("%s: no record is known for %q", path, word)
	}
	c.record(path, word)
	for _, one := range query {
		c.record(path+"?"+one, word)
	}
	if len(query) > 0 {
		c.record(path+"?"+strings.Join(query, "&"), word)
	}
	c.problem(http.MethodGet, path+"?chain_ids=1", http.StatusUnprocessableEntity)
	c.problem(http.MethodPost, path, http.StatusMethodNotAllowed)
}

// limits checks the numbers of the spec.
func (c *contract) limits(of table) {
	envelope, items := c.items("/tokens/price24h")
	checks := map[string]func(value string){
		"limit default": func(value string) {
			if want := min(number(value), number(envelope.values["total_count"])); len(items) != want {
				c.Errorf("%d items without a limit, want %d", len(items), want)
			}
		},
		"Price fetch interval": func(value string) {
			now, err := time.Parse(time.RFC3339Nano, c.record("/health", "health record").text("timestamp"))
			fetched, err2 := time.Parse("2006-01-02T15:04:05.000000", envelope.text("timestamp"))
			if age := now.Sub(fetched); err != nil || err2 != nil || value != "about one minute" || age < -time.Minute || age > 5*time.Minute {
				c.Errorf("prices are %s old; the spec has %q (%v, %v)", age, value, err, err2)
			}
		},
	}
	for _, row := range of.rows {
		check, known := checks[row[0]]
		if !known {
			c.Errorf("the limit %q is checked by nobody", row[0])
			continue
		}
		check(row[1])
	}
}
