package config

import (
	"reflect"
	"strings"
	"testing"
)

// FuzzEnvironment: no variable or flag makes the parser panic, and applying one twice has
// the same result as once.
func FuzzEnvironment(f *testing.F) {
	for _, s := range [][2]string{
		{"SANDBOX", "true"}, {"KEYS_AUTO_LOCK", "5m"}, {"NETWORKS_1_RPC", "https://a.example, https://b.example"}, {"NETWORKS__RPC", ""},
		{"LIMITS_OPEN_ORDERS", "99999999999999999999"}, {"PROVIDERS_DEX_BASE_URL", "https://dex.example/v1"}, {"EXTENSIONS", "a"}, {"", ""},
		{"log.level", "debug"}, {"networks.1.depth", "-1"}, {"networks..rpc", "x"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		for form, apply := range map[string]func(*Config) error{
			"variable": func(c *Config) error { return c.applyEnvironment(map[string]string{"SWAPKEEP_" + name: value}) },
			"flag":     func(c *Config) error { return c.set(strings.Split(name, "."), value) },
		} {
			once := Default()
			if apply(&once) != nil || once.Check() != nil {
				continue
			}
			twice := Default()
			if err := apply(&twice); err != nil {
				t.Fatalf("%s %s=%q: %v at first", form, name, value, err)
			}
			if err := apply(&twice); err != nil || !reflect.DeepEqual(once, twice) {
				t.Fatalf("%s %s=%q: %+v, then %+v, %v", form, name, value, once, twice, err)
			}
		}
	})
}
