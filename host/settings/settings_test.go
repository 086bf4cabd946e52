package settings

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"swapkeep/config"
	"swapkeep/host/protocol"
)

func openDB(t testing.TB, path string) *bolt.DB {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func open(t testing.TB, db *bolt.DB, cfg config.Config, o Options) *Settings {
	t.Helper()
	if o.Chains == nil {
		o.Chains = []uint64{1, 8453}
	}
	if o.DefaultRPC == nil {
		o.DefaultRPC = func(uint64) []string { return []string{"https://own.example/v1"} }
	}
	s, err := Open(db, cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fresh(t testing.TB, o Options) *Settings {
	t.Helper()
	return open(t, openDB(t, filepath.Join(t.TempDir(), "orders.db")), config.Default(), o)
}

func find(t testing.TB, s *Settings, key string, reveal bool) protocol.Setting {
	t.Helper()
	all := s.List(reveal)
	i := slices.IndexFunc(all, func(v protocol.Setting) bool { return v.Key == key })
	if i < 0 {
		t.Fatalf("no setting %s", key)
	}
	return all[i]
}

// TestNetworkStays checks that a choice survives a restart, and that the fallback applies
// before the first one.
func TestNetworkStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orders.db")
	for i, want := range []uint64{1, 8453} {
		db := openDB(t, path)
		s := open(t, db, config.Default(), Options{})
		if got, err := s.ActiveNetwork(1); err != nil || got != want {
			t.Errorf("start %d: %d, %v, want %d", i, got, err, want)
		}
		if err := s.SetActiveNetwork(8453); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if i == 1 && s.SetActiveNetwork(1) == nil {
			t.Error("a choice that was not written is no error")
		}
	}
}

// TestDamagedNetwork checks that an unreadable choice is reported and can be replaced.
func TestDamagedNetwork(t *testing.T) {
	for _, v := range []string{"null", "-1", "1.5", `"1"`, "0", "[1]", "", "18446744073709551616"} {
		db := openDB(t, filepath.Join(t.TempDir(), "orders.db"))
		open(t, db, config.Default(), Options{})
		if err := db.Update(func(tx *bolt.Tx) error { return tx.Bucket(bucket).Put([]byte(NetworkKey), []byte(v)) }); err != nil {
			t.Fatal(err)
		}
		s := open(t, db, config.Default(), Options{})
		if got, err := s.ActiveNetwork(8453); err != nil || got != 8453 || s.Ignored()[NetworkKey] == nil {
			t.Errorf("%q: %d, %v, ignored %v", v, got, err, s.Ignored())
		}
		if err := s.SetActiveNetwork(1); err != nil {
			t.Fatal(err)
		}
		if got, err := s.ActiveNetwork(8453); err != nil || got != 1 || len(s.Ignored()) != 0 {
			t.Errorf("%q, repaired: %d, %v, ignored %v", v, got, err, s.Ignored())
		}
	}
}

// FuzzNetwork checks that any stored network is read as the chain id that was written or
// as none, and can be replaced.
func FuzzNetwork(f *testing.F) {
	for _, v := range []string{"1", "8453", "0", "-1", "null", "1.0", "1e3", `"1"`, "[1]", "", " 1 ", "18446744073709551615", "18446744073709551616"} {
		f.Add([]byte(v))
	}
	db := openDB(f, filepath.Join(f.TempDir(), "orders.db"))
	db.NoSync = true
	s := open(f, db, config.Default(), Options{})
	f.Fuzz(func(t *testing.T, value []byte) {
		if err := db.Update(func(tx *bolt.Tx) error { return tx.Bucket(bucket).Put([]byte(NetworkKey), value) }); err != nil {
			t.Fatal(err)
		}
		got, err := s.ActiveNetwork(8453)
		stored, whole := strconv.ParseUint(strings.Trim(string(value), " \t\r\n"), 10, 64)
		if err != nil || got != 8453 && (whole != nil || got != stored) || whole == nil && stored > 0 && value[0] != '0' && got == 8453 && stored != 8453 && json.Valid(value) {
			t.Fatalf("%q is read as %d, %v", value, got, err)
		}
		again, err := Open(db, config.Default(), Options{})
		if err != nil || (again.Ignored()[NetworkKey] == nil) != (whole == nil && stored > 0 && json.Valid(value)) {
			t.Fatalf("%q: ignored %v, %v", value, again.Ignored(), err)
		}
		if err := again.SetActiveNetwork(10); err != nil || len(again.Ignored()) > 0 {
			t.Fatalf("%q: ignored %v, %v", value, again.Ignored(), err)
		}
		if got, err := s.ActiveNetwork(8453); err != nil || got != 10 {
			t.Fatalf("%q stays: %d, %v", value, got, err)
		}
	})
}

// FuzzChange checks that any key and values are refused with an error of the protocol's
// table, or leave a valid configuration that is the same after a restart.
func FuzzChange(f *testing.F) {
	for key, v := range map[string]string{
		"swap.slippage": "1.25", "keys.auto_lock": "5m", "ui.language": "pt-BR", "log.level": "debug", "networks.1.rpc": "https://a.example\nhttps://b.example/key", "providers.dex.base_url": "https://a.example",
		"fees.receiver": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "network": "10", "networks.01.rpc": "https://a.example", "": "", "swap.slippage ": "90",
	} {
		f.Add(key, v)
	}
	db := openDB(f, filepath.Join(f.TempDir(), "orders.db"))
	db.NoSync = true
	f.Fuzz(func(t *testing.T, key, text string) {
		if err := db.Update(func(tx *bolt.Tx) error {
			if tx.Bucket(bucket) == nil {
				return nil
			}
			return tx.DeleteBucket(bucket)
		}); err != nil {
			t.Fatal(err)
		}
		s := open(t, db, config.Default(), Options{})
		values := strings.Split(text, "\n")
		got, err := s.Change(t.Context(), key, values)
		var wrong *protocol.Error
		if err != nil && !errors.As(err, &wrong) {
			t.Fatalf("%q = %q: %v", key, values, err)
		}
		if c := s.Config(); c.Check() != nil {
			t.Fatalf("%q = %q is taken: %v", key, values, c.Check())
		}
		again, opened := Open(db, config.Default(), Options{Chains: []uint64{1, 8453}})
		if opened != nil || len(again.Ignored()) > 0 || !reflect.DeepEqual(again.Config(), s.Config()) {
			t.Fatalf("%q = %q is another after a restart: %v, %v", key, values, again.Ignored(), opened)
		}
		if err == nil {
			if _, err := s.Change(t.Context(), got.Key, nil); err != nil || got.Key != key {
				t.Fatalf("%q cannot be reset as %q: %v", key, got.Key, err)
			}
		}
	})
}

// TestAsks checks that what a change requires depends on the resulting value, which for a
// reset is that of the file.
func TestAsks(t *testing.T) {
	lax := config.Default()
	lax.Swap.Slippage, lax.Keys.AutoLock = config.Percent{Hundredths: 2000}, config.Duration(2*time.Hour)
	const session, password, terminal = protocol.RightSession, protocol.RightPassword, protocol.RightTerminal
	for _, c := range []struct {
		file  config.Config
		key   string
		value string // "" = reset
		want  string
	}{
		{config.Default(), "swap.slippage", "5", session},
		{config.Default(), "swap.slippage", "5.01", password},
		{config.Default(), "swap.slippage", "15", password},
		{config.Default(), "swap.slippage", "15.01", terminal},
		{config.Default(), "swap.slippage", "50", terminal},
		{config.Default(), "swap.slippage", "", session},
		{lax, "swap.slippage", "", terminal},
		{lax, "swap.slippage", "0.5", session},
		{config.Default(), "keys.auto_lock", "60m", session},
		{config.Default(), "keys.auto_lock", "1h0m1s", password},
		{config.Default(), "keys.auto_lock", "", session},
		{lax, "keys.auto_lock", "", password},
		{config.Default(), "log.level", "info", session},
		{config.Default(), "log.level", "error", session},
		{config.Default(), "log.level", "debug", password},
		{config.Default(), "ui.language", "de", session},
		{config.Default(), "limits.hourly_worth", "1", password},
		{config.Default(), "limits.unpriced_day", "1", password},
		{config.Default(), "prices.disabled", "true", password},
		{config.Default(), "prices.sources.onchain.disabled", "", password},
	} {
		s := open(t, openDB(t, filepath.Join(t.TempDir(), "orders.db")), c.file, Options{})
		var values []string
		if c.value != "" {
			values = []string{c.value}
		}
		if got, err := s.RequiredRight(c.key, values); err != nil || got != c.want {
			t.Errorf("%s = %q asks for %q, %v, want %q", c.key, c.value, got, err, c.want)
		}
	}
	for key, values := range map[string][]string{"swap.slippage": {"51"}, "keys.auto_lock": {"1", "2"}, "log.level": {"trace"}} {
		if _, err := fresh(t, Options{}).RequiredRight(key, values); !errors.Is(err, protocol.New("setting_refused", "")) {
			t.Errorf("%s = %q: %v", key, values, err)
		}
	}
}

// TestTable checks that every row is a configuration key, that fixed rows say why, and
// that changeable ones accept their present value.
func TestTable(t *testing.T) {
	cfg := config.Default()
	seen := map[string]bool{}
	for _, r := range expand([]uint64{1, 10}) {
		values, err := cfg.Values(r.key)
		if err != nil || seen[r.key] || r.does == "" || r.applies == "" || (r.right == protocol.RightNone) != (r.fixed != "") {
			t.Errorf("%+v: %v", r, err)
		}
		seen[r.key] = true
		if strings.HasSuffix(r.key, "_url") != (r.kind == protocol.SettingURL) && r.kind != protocol.SettingURLs {
			t.Errorf("%s is a %s", r.key, r.kind)
		}
		guarded := slices.ContainsFunc([]string{"networks.", "providers.", "prices.", "limits."}, func(of string) bool { return strings.HasPrefix(r.key, of) })
		if (guarded && r.fixed == "") != (r.right == protocol.RightPassword) {
			t.Errorf("%s asks for %s", r.key, r.right)
		}
		if r.right == protocol.RightNone || r.kind == protocol.SettingURLs {
			continue
		}
		for _, v := range slices.DeleteFunc(append(values, r.min, r.max), func(v string) bool { return v == "" }) {
			if _, err := fresh(t, Options{Chains: []uint64{1, 10}}).Change(t.Context(), r.key, []string{v}); err != nil {
				t.Errorf("%s = %s: %v", r.key, v, err)
			}
		}
	}
	for _, key := range []string{"networks.1.rpc", "networks.10.depth", "swap.slippage"} {
		if !seen[key] {
			t.Errorf("no %s", key)
		}
	}
}

// keysThatAreNotSettings are configuration keys that are not settings.
var keysThatAreNotSettings = map[string]string{
	"fees.name": "shown by swap.fees", "fees.website": "shown by swap.fees",
}

// TestTableIsWhole checks that every configuration key is a setting or listed in
// unsettled.
func TestTableIsWhole(t *testing.T) {
	in := map[string]bool{}
	for _, r := range expand([]uint64{1}) {
		in[r.key] = true
	}
	for _, key := range leaves(reflect.TypeFor[config.Config](), "") {
		if in[key] == (keysThatAreNotSettings[key] != "") {
			t.Errorf("%s is in the table: %t, and in the list of those that are not: %q", key, in[key], keysThatAreNotSettings[key])
		}
	}
}

// leaves returns the keys of a configuration type, with chain 1 for every chain.
func leaves(typ reflect.Type, at string) (keys []string) {
	switch typ.Kind() {
	case reflect.Map:
		return leaves(typ.Elem(), at+"1.")
	case reflect.Struct:
		for i := range typ.NumField() {
			if tag := typ.Field(i).Tag.Get("toml"); tag != "" && tag != "-" {
				keys = append(keys, leaves(typ.Field(i).Type, at+tag+".")...)
			}
		}
		if len(keys) > 0 {
			return keys
		}
	}
	return []string{strings.TrimSuffix(at, ".")}
}

func TestChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orders.db")
	db := openDB(t, path)
	var applied []string
	s := open(t, db, config.Default(), Options{Apply: func(key string, c config.Config) {
		applied = append(applied, key+" "+time.Duration(c.Keys.AutoLock).String())
	}})
	if got := s.Slippage(); got != 50 {
		t.Errorf("slippage %s", got)
	}
	for _, c := range []struct{ key, value, shown string }{
		{"swap.slippage", "1.25", "1.25"}, {"keys.auto_lock", "5m", "5m0s"}, {"ui.language", "pt-BR", "pt-BR"}, {"log.level", "debug", "debug"},
	} {
		got, err := s.Change(t.Context(), c.key, []string{c.value})
		if err != nil || got.Value != c.shown || got.Source != protocol.FromSetting || got.Pending != (got.TakesEffect == protocol.AppliesRestart) {
			t.Errorf("%s: %+v, %v", c.key, got, err)
		}
	}
	if s.Slippage() != 125 || !slices.Equal(applied, []string{"swap.slippage 15m0s", "keys.auto_lock 5m0s", "ui.language 5m0s"}) {
		t.Errorf("slippage %s, applied %v", s.Slippage(), applied)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Change(t.Context(), "swap.slippage", []string{"2"}); err == nil || s.Slippage() != 125 {
		t.Errorf("a change that was not written holds: %v", err)
	}
	// After a restart.
	s = open(t, openDB(t, path), config.Default(), Options{})
	if c := s.Config(); c.Log.Level != "debug" || c.UI.Language != "pt-BR" || s.Slippage() != 125 || len(s.Ignored()) != 0 {
		t.Errorf("%+v, ignored %v", c, s.Ignored())
	}
	if got := find(t, s, "log.level", false); got.Pending {
		t.Errorf("still pending after a restart: %+v", got)
	}
	got, err := s.Change(t.Context(), "swap.slippage", nil)
	if err != nil || got.Value != "0.5" || got.Source != protocol.FromDefault || s.Slippage() != 50 {
		t.Errorf("reset: %+v, %v", got, err)
	}
}

func TestRefused(t *testing.T) {
	s := fresh(t, Options{})
	for _, c := range []struct {
		key, name string
		values    []string
	}{
		{"no.such", "setting_unknown", []string{"1"}},
		{"networks.5.rpc", "setting_unknown", []string{"https://x.example"}},
		{"network", "setting_unknown", []string{"1"}},
		{"fees.fee_bps", "setting_fixed", []string{"0"}},
		{"fees.receiver", "setting_fixed", []string{"0x52908400098527886E0F7030069857D2E4169EE7"}},
		{"fees.receiver", "setting_fixed", nil},
		{"extensions.chromium", "setting_fixed", []string{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}},
		{"extensions.firefox", "setting_fixed", []string{"other@example.org"}},
		{"extensions.allow_unknown", "setting_fixed", []string{"true"}},
		{"chains.allow_loopback", "setting_fixed", []string{"1"}},
		{"tokens.lists", "setting_fixed", []string{"/tmp/list.json"}},
		{"keys.backend", "setting_fixed", nil},
		{"sandbox", "setting_fixed", []string{"true"}},
		{"swap.slippage", "setting_refused", []string{"0"}},
		{"swap.slippage", "setting_refused", []string{"50.01"}},
		{"swap.slippage", "setting_refused", []string{"0.001"}},
		{"swap.slippage", "setting_refused", []string{""}},
		{"swap.slippage", "setting_refused", []string{"1", "2"}},
		{"keys.auto_lock", "setting_refused", []string{"10s"}},
		{"keys.auto_lock", "setting_refused", []string{"25h"}},
		{"ui.language", "setting_refused", []string{"<script>"}},
		{"ui.currency", "setting_refused", []string{"dollars"}},
		{"log.level", "setting_refused", []string{"trace"}},
		{"limits.open_orders", "setting_refused", []string{"0"}},
		{"providers.dex.base_url", "setting_refused", []string{"http://x.example"}},
		{"providers.dex.base_url", "setting_refused", []string{"https://user:SECRET@x.example"}},
		{"providers.dex.disabled", "setting_refused", []string{"maybe"}},
		{"networks.1.rpc", "setting_refused", []string{"https://x.example, https://y.example"}},
		{"networks.1.rpc", "setting_refused", []string{""}},
	} {
		_, err := s.Change(t.Context(), c.key, c.values)
		if !errors.Is(err, protocol.New(c.name, "")) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s = %q: %v, want %s", c.key, c.values, err, c.name)
		}
	}
	for _, v := range s.List(true) {
		if v.Source != protocol.FromDefault {
			t.Errorf("changed all the same: %+v", v)
		}
	}
}

// TestOverridden checks that environment and flags override a setting, which then cannot
// be changed.
func TestOverridden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orders.db")
	s := open(t, openDB(t, path), config.Default(), Options{})
	for key, v := range map[string]string{"swap.slippage": "3", "ui.language": "de", "keys.auto_lock": "5m"} {
		if _, err := s.Change(t.Context(), key, []string{v}); err != nil {
			t.Fatal(err)
		}
	}
	_ = s.db.Close()
	cfg, err := config.Load([]string{"XDG_CONFIG_HOME=" + t.TempDir(), "SWAPKEEP_SWAP_SLIPPAGE=1"}, "ui.language=fr")
	if err != nil {
		t.Fatal(err)
	}
	s = open(t, openDB(t, path), cfg, Options{})
	for key, want := range map[string]struct{ value, source, name string }{
		"swap.slippage":  {"1", protocol.FromEnvironment, "SWAPKEEP_SWAP_SLIPPAGE"},
		"ui.language":    {"fr", protocol.FromFlag, "ui.language"},
		"keys.auto_lock": {"5m0s", protocol.FromSetting, ""},
	} {
		got := find(t, s, key, false)
		if got.Value != want.value || got.Source != want.source || got.Name != want.name || (got.Refused != "") != (want.name != "") {
			t.Errorf("%s: %+v, want %+v", key, got, want)
		}
		_, err := s.Change(t.Context(), key, []string{want.value})
		if overridden := errors.Is(err, protocol.New("setting_overridden", "")); overridden != (want.name != "") {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestRPC(t *testing.T) {
	wrong := errors.New("wrong.example: rpc endpoint serves another chain")
	var queried []string
	proof := func(_ context.Context, chain uint64, urls []string) error {
		queried = append(queried, urls...)
		if chain != 1 || slices.Contains(urls, "https://wrong.example") {
			return wrong
		}
		return nil
	}
	var used config.Config
	s := fresh(t, Options{ProveRPC: proof, Apply: func(_ string, c config.Config) { used = c }})
	const key = "networks.1.rpc"
	if got := find(t, s, key, false); !slices.Equal(got.Values, []string{"own.example"}) || !got.Masked || got.Source != protocol.FromDefault {
		t.Errorf("setting = %+v, want own.example, masked, by default", got)
	}
	if _, err := s.Change(t.Context(), key, []string{"https://good.example", "https://wrong.example"}); !errors.Is(err, protocol.New("rpc_refused", "")) {
		t.Errorf("an endpoint of another chain: %v", err)
	}
	got, err := s.Change(t.Context(), key, []string{"https://good.example/ACCESSKEY", "https://two.example"})
	if err != nil || !slices.Equal(got.Values, []string{"good.example", "two.example"}) || !got.Masked {
		t.Errorf("Change = %+v, %v, want good.example and two.example, masked", got, err)
	}
	if !slices.Equal(used.Networks["1"].RPC, []string{"https://good.example/ACCESSKEY", "https://two.example"}) {
		t.Errorf("applied %v", used.Networks)
	}
	if whole := find(t, s, key, true); whole.Masked || whole.Values[0] != "https://good.example/ACCESSKEY" {
		t.Errorf("revealed %+v", whole)
	}
	queried = nil
	if got, err := s.Change(t.Context(), key, nil); err != nil || !slices.Equal(got.Values, []string{"own.example"}) || queried != nil {
		t.Errorf("reset: %+v, %v, asked %v", got, err, queried)
	}
}

// TestIgnored checks that an invalid stored choice is ignored, reported and can be
// corrected.
func TestIgnored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orders.db")
	db := openDB(t, path)
	open(t, db, config.Default(), Options{})
	for key, v := range map[string]string{
		"swap.slippage": `["90"]`, "ui.language": `"de"`, "fees.receiver": `["0x70997970C51812dc3A010C7d01b50e0d17dc79C8"]`,
		"of.a.newer.version": `["1"]`, "ui.currency": `["EUR"]`, "keys.auto_lock": `[]`,
	} {
		if err := db.Update(func(tx *bolt.Tx) error { return tx.Bucket(bucket).Put([]byte(key), []byte(v)) }); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, db, config.Default(), Options{})
	c := s.Config()
	if c.Swap.Slippage.Hundredths != 50 || c.Fees.Receiver != "" || c.UI.Currency != "EUR" {
		t.Errorf("config = %+v, want slippage 50, no fee receiver and EUR", c)
	}
	if got := s.Ignored(); len(got) != 5 || got["ui.currency"] != nil {
		t.Errorf("ignored %v", got)
	}
	if _, err := s.Change(t.Context(), "swap.slippage", nil); err != nil || s.Ignored()["swap.slippage"] != nil {
		t.Errorf("repaired: %v, %v", err, s.Ignored())
	}
	if got := open(t, db, config.Default(), Options{}).Ignored(); len(got) != 4 {
		t.Errorf("after the repair: %v", got)
	}
}

// FuzzDecode checks that decoded values are not empty, and that the configuration accepts
// them only within its bounds.
func FuzzDecode(f *testing.F) {
	for _, v := range []string{`["1"]`, `[]`, `null`, `"x"`, `["https://a.example","b"]`, `[1]`} {
		f.Add([]byte(v))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		values, err := decode(value)
		if err != nil {
			return
		}
		if len(values) == 0 {
			t.Fatalf("%q is nothing", value)
		}
		for _, key := range []string{"swap.slippage", "keys.auto_lock", "networks.1.rpc", "providers.dex.base_url"} {
			c, err := config.Default().With(map[string][]string{key: values})
			if err == nil && c.Check() != nil {
				t.Fatalf("%s = %q: %v", key, values, c.Check())
			}
		}
	})
}
