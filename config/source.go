package config

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// A Source is where the value of a key comes from.
type Source string

// The sources, weakest first: each overrides those above it.
const (
	FromDefault     Source = "default"
	FromFile        Source = "file"
	FromSetting     Source = "setting" // chosen in the running daemon, which stores it
	FromEnvironment Source = "environment"
	FromFlag        Source = "flag"
)

// An Origin is a source with its name: that of the file, the variable or the flag.
type Origin struct {
	Source Source
	Name   string
}

// Origin returns where the value of a key, such as keys.auto_lock, comes from.
func (c *Config) Origin(key string) Origin {
	if o, ok := c.origins[key]; ok {
		return o
	}
	return Origin{Source: FromDefault}
}

// Overridden reports whether the environment or a flag sets the key. A setting in the
// daemon then has no effect.
func (c *Config) Overridden(key string) bool {
	s := c.Origin(key).Source
	return s == FromEnvironment || s == FromFlag
}

func (c *Config) recordOrigin(path []string, s Source, name string) {
	if c.origins == nil {
		c.origins = map[string]Origin{}
	}
	c.origins[strings.Join(path, ".")] = Origin{s, name}
}

// recordFileOrigins records every key that the file sets.
func (c *Config) recordFileOrigins(b []byte) error {
	var all map[string]any
	if err := toml.Unmarshal(b, &all); err != nil {
		return err
	}
	c.recordTableOrigins(nil, all)
	return nil
}

func (c *Config) recordTableOrigins(path []string, table map[string]any) {
	for name, value := range table {
		at := append(slices.Clone(path), name)
		if inner, ok := value.(map[string]any); ok {
			c.recordTableOrigins(at, inner)
			continue
		}
		c.recordOrigin(at, FromFile, c.File)
	}
}

// With returns c with settings applied between file and environment. settings are by key; a
// key that is not a list takes one value. On error it returns c unchanged.
func (c Config) With(settings map[string][]string) (Config, error) {
	out := c
	out.Networks, out.origins = maps.Clone(c.Networks), maps.Clone(c.origins) // lists are replaced, never changed
	for key, values := range settings {
		if c.Overridden(key) {
			continue
		}
		path := strings.Split(key, ".")
		if err := setValue(reflect.ValueOf(&out).Elem(), path, strings.Join(values, ",")); err != nil {
			return c, fmt.Errorf("setting %s: %w", key, err)
		}
		out.recordOrigin(path, FromSetting, "")
	}
	if err := out.Check(); err != nil {
		return c, err
	}
	return out, nil
}

// Values returns a key's value as text: the elements of a list, or one value. A key that is
// not set, or of a network that is not configured, has the zero value of its type. A key
// that cannot exist is an error.
func (c *Config) Values(key string) ([]string, error) {
	v := reflect.ValueOf(*c)
	for _, part := range strings.Split(key, ".") {
		if v = member(v, part); !v.IsValid() {
			return nil, fmt.Errorf("unknown key: %s", key)
		}
	}
	if v.Kind() != reflect.Slice {
		s, err := textOf(v)
		return []string{s}, err
	}
	all := make([]string, v.Len())
	for i := range all {
		var err error
		if all[i], err = textOf(v.Index(i)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// member is one step along a key's path; invalid if there is none.
func member(v reflect.Value, name string) reflect.Value {
	switch v.Kind() {
	case reflect.Struct:
		field, _ := fieldOf(v, name)
		return field
	case reflect.Map:
		if e := v.MapIndex(reflect.ValueOf(name)); e.IsValid() {
			return e
		}
		return reflect.Zero(v.Type().Elem())
	}
	return reflect.Value{}
}

func textOf(v reflect.Value) (string, error) {
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		b, err := m.MarshalText()
		return string(b), err
	}
	switch v.Kind() {
	case reflect.String:
		return v.String(), nil
	case reflect.Bool:
		return strconv.FormatBool(v.Bool()), nil
	case reflect.Int:
		return strconv.FormatInt(v.Int(), 10), nil
	case reflect.Uint64:
		return strconv.FormatUint(v.Uint(), 10), nil
	}
	return "", fmt.Errorf("a table, not a value")
}
