package providertest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A node is one value inside a reply.
type node struct {
	keys    []any  // object keys and array indexes from the top
	pattern string // such as quote.route[*][*].fee
	place   string // such as quote.route[0][1].fee
	value   any
	leaf    bool
}

// walk lists every node below the top.
func walk(doc any) []node {
	var out []node
	var visit func(v any, keys []any, pattern, place string)
	visit = func(v any, keys []any, pattern, place string) {
		n := node{slices.Clone(keys), pattern, place, v, true}
		switch v := v.(type) {
		case map[string]any:
			n.leaf = false
			names := make([]string, 0, len(v))
			for k := range v {
				names = append(names, k)
			}
			slices.Sort(names)
			for _, k := range names {
				visit(v[k], append(keys, k), strings.TrimPrefix(pattern+"."+k, "."), strings.TrimPrefix(place+"."+k, "."))
			}
		case []any:
			n.leaf = len(v) == 0
			for i, e := range v {
				visit(e, append(keys, i), pattern+"[*]", fmt.Sprintf("%s[%d]", place, i))
			}
		}
		if len(keys) > 0 {
			out = append(out, n)
		}
	}
	visit(doc, nil, "", "")
	return out
}

func (n node) with(doc any, m mutation) []byte {
	b, err := json.Marshal(replace(doc, n.keys, m))
	if err != nil {
		panic(err) // it came from JSON
	}
	return b
}

// replace copies the containers on the path to the changed node.
func replace(v any, keys []any, m mutation) any {
	if len(keys) == 0 {
		return m.value
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = e
		}
		k := keys[0].(string)
		if len(keys) == 1 && m.remove {
			delete(out, k)
		} else {
			out[k] = replace(v[k], keys[1:], m)
		}
		return out
	case []any:
		i := keys[0].(int)
		if len(keys) == 1 && m.remove {
			return slices.Concat(v[:i], v[i+1:])
		}
		out := slices.Clone(v)
		out[i] = replace(v[i], keys[1:], m)
		return out
	}
	return v
}
