package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// reservedVariables are the SWAPKEEP_ variables that are not configuration keys.
var reservedVariables = map[string]bool{
	"SWAPKEEP_HOME":              true,
	"SWAPKEEP_CONFIG":            true,
	tokenVariable:                true,
	"SWAPKEEP_DAEMON":            true, // binaries built for fault tests
	"SWAPKEEP_TEST_KEYRING":      true,
	"SWAPKEEP_SANDBOX_CONTRACTS": true,
}

func environment(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, e := range environ {
		if k, v, ok := strings.Cut(e, "="); ok {
			env[k] = v
		}
	}
	return env
}

// applyEnvironment applies variables named SWAPKEEP_ and the key in capitals, with dots as
// underscores.
func (c *Config) applyEnvironment(env map[string]string) error {
	for name, value := range env {
		if !strings.HasPrefix(name, "SWAPKEEP_") || reservedVariables[name] {
			continue
		}
		path, ok := keyPath(reflect.TypeOf(*c), strings.TrimPrefix(name, "SWAPKEEP_"))
		if !ok {
			return fmt.Errorf("%s: unknown configuration key", name)
		}
		if err := c.set(path, value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		c.recordOrigin(path, FromEnvironment, name)
	}
	return nil
}

// keyPath finds the path of the key whose variable, without the prefix, is name. Keys contain
// underscores themselves, so t decides where to split.
func keyPath(t reflect.Type, name string) ([]string, bool) {
	switch {
	case t.Kind() == reflect.Map: // the next part is a map key, such as a chain id
		part, rest, ok := strings.Cut(name, "_")
		if !ok {
			return nil, false
		}
		path, ok := keyPath(t.Elem(), rest)
		return append([]string{strings.ToLower(part)}, path...), ok
	case t.Kind() != reflect.Struct || name == "":
		return nil, name == ""
	}
	for i := range t.NumField() {
		key := t.Field(i).Tag.Get("toml")
		if key == "" || key == "-" {
			continue
		}
		upper := strings.ToUpper(key)
		rest, ok := strings.CutPrefix(name, upper)
		if !ok || (rest != "" && rest[0] != '_') {
			continue
		}
		if path, ok := keyPath(t.Field(i).Type, strings.TrimPrefix(rest, "_")); ok {
			return append([]string{key}, path...), true
		}
	}
	return nil, false
}

// set sets the key at path from text; lists are comma-separated.
func (c *Config) set(path []string, value string) error {
	return setValue(reflect.ValueOf(c).Elem(), path, value)
}

func setValue(v reflect.Value, path []string, value string) error {
	if len(path) == 0 {
		return parseInto(v, value)
	}
	switch v.Kind() {
	case reflect.Struct:
		if field, ok := fieldOf(v, path[0]); ok {
			return setValue(field, path[1:], value)
		}
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		key, elem := reflect.ValueOf(path[0]), reflect.New(v.Type().Elem()).Elem()
		if old := v.MapIndex(key); old.IsValid() {
			elem.Set(old)
		}
		if err := setValue(elem, path[1:], value); err != nil {
			return err
		}
		v.SetMapIndex(key, elem)
		return nil
	}
	return fmt.Errorf("unknown key: %s", path[0])
}

// fieldOf is the struct field for a key. Fields that are not keys have the tag "-" or none.
func fieldOf(v reflect.Value, key string) (reflect.Value, bool) {
	for i := range v.NumField() {
		if tag := v.Type().Field(i).Tag.Get("toml"); tag == key && tag != "" && tag != "-" {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

func parseInto(v reflect.Value, s string) error {
	if u, ok := v.Addr().Interface().(interface{ UnmarshalText([]byte) error }); ok {
		return u.UnmarshalText([]byte(s))
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Bool:
		b, err := strconv.ParseBool(s)
		v.SetBool(b)
		return err
	case reflect.Int:
		n, err := strconv.Atoi(s)
		v.SetInt(int64(n))
		return err
	case reflect.Uint64:
		n, err := strconv.ParseUint(s, 10, 64)
		v.SetUint(n)
		return err
	case reflect.Slice:
		list := reflect.MakeSlice(v.Type(), 0, 0)
		for part := range strings.SplitSeq(s, ",") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			elem := reflect.New(v.Type().Elem()).Elem()
			if err := parseInto(elem, part); err != nil {
				return err
			}
			list = reflect.Append(list, elem)
		}
		v.Set(list)
	default:
		return fmt.Errorf("a table, not a value")
	}
	return nil
}
