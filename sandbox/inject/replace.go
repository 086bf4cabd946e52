package inject

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Replace replaces the value at a JSON pointer (RFC 6901) in doc. The pointer must exist,
// except that a missing last object member is added. The pointer "" is the whole
// document. Numbers keep their text.
func Replace(doc []byte, pointer string, value json.RawMessage) ([]byte, error) {
	if pointer == "" {
		return value, nil
	}
	root, err := decode(doc)
	if err != nil {
		return nil, err
	}
	with, err := decode(value)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(pointer, "/")[1:]
	for i, p := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(p)
	}
	at := root
	for _, p := range parts[:len(parts)-1] {
		if at, err = step(at, p); err != nil {
			return nil, fmt.Errorf("%s: %w", pointer, err)
		}
	}
	if err := put(at, parts[len(parts)-1], with); err != nil {
		return nil, fmt.Errorf("%s: %w", pointer, err)
	}
	return json.Marshal(root)
}

func decode(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

func step(at any, part string) (any, error) {
	switch at := at.(type) {
	case map[string]any:
		if v, ok := at[part]; ok {
			return v, nil
		}
	case []any:
		if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(at) {
			return at[i], nil
		}
	}
	return nil, fmt.Errorf("no %q there", part)
}

func put(at any, part string, value any) error {
	switch at := at.(type) {
	case map[string]any:
		at[part] = value
		return nil
	case []any:
		if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(at) {
			at[i] = value
			return nil
		}
	}
	return fmt.Errorf("no %q there", part)
}
