package installertest

import (
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Registry is an in-memory Windows registry.
type Registry struct {
	keys map[string]map[string]string
	// Fail, unless nil, is called before every change and may return an error.
	Fail func(op, key string) error
}

// NewRegistry returns a registry with these keys and their parents.
func NewRegistry(keys ...string) *Registry {
	r := &Registry{keys: map[string]map[string]string{}}
	for _, key := range keys {
		r.Key(key)
	}
	return r
}

// List returns everything, sorted.
func (r *Registry) List() []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(r.keys)) {
		out = append(out, key)
		for _, name := range slices.Sorted(maps.Keys(r.keys[key])) {
			out = append(out, key+" "+name+" = "+r.keys[key][name])
		}
	}
	return out
}

func (r *Registry) fail(op, key string) error {
	if r.Fail == nil {
		return nil
	}
	return r.Fail(op, key)
}

func (r *Registry) Value(key, name string) (string, bool, error) {
	text, is := r.keys[key][name]
	return text, is, nil
}

// Number parses a text as a number.
func (r *Registry) Number(key, name string) (uint64, bool, error) {
	n, err := strconv.ParseUint(r.keys[key][name], 10, 64)
	return n, err == nil, nil
}

// Put sets a value and creates its key and parents.
func (r *Registry) Put(key, name, text string) {
	r.Key(key)
	r.keys[key][name] = text
}

// Key creates a key and its parents.
func (r *Registry) Key(key string) {
	for at := range len(key) + 1 {
		if (at == len(key) || key[at] == '\\') && r.keys[key[:at]] == nil {
			r.keys[key[:at]] = map[string]string{}
		}
	}
}

// Exists reports whether a key exists.
func (r *Registry) Exists(key string) (bool, error) { return r.keys[key] != nil, nil }

// Make creates a key.
func (r *Registry) Make(key string) error {
	if err := r.fail("make", key); err != nil {
		return err
	}
	if r.keys[key[:strings.LastIndexByte(key, '\\')]] == nil {
		return fs.ErrNotExist
	}
	if r.keys[key] == nil {
		r.keys[key] = map[string]string{}
	}
	return nil
}

// Set sets a value.
func (r *Registry) Set(key, name, text string) error {
	if err := r.fail("set", key); err != nil {
		return err
	}
	if r.keys[key] == nil {
		return fs.ErrNotExist
	}
	r.keys[key][name] = text
	return nil
}

// Unset removes a value.
func (r *Registry) Unset(key, name string) error {
	if err := r.fail("unset", key); err != nil {
		return err
	}
	delete(r.keys[key], name)
	return nil
}

// RemoveEmpty removes a key without subkeys and values, and reports whether it did.
func (r *Registry) RemoveEmpty(key string) (bool, error) {
	for other := range r.keys {
		if strings.HasPrefix(other, key+`\`) || len(r.keys[key]) > 0 {
			return false, nil
		}
	}
	if err := r.fail("remove", key); err != nil {
		return false, err
	}
	delete(r.keys, key)
	return true, nil
}
