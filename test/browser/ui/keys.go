//go:build linux

package ui

import (
	"fmt"
	"strings"
	"unicode"
)

// A key as the two protocols name it.
type key struct {
	name  string // KeyboardEvent.key
	code  string // KeyboardEvent.code
	vk    int    // Windows' virtual key code, for Chromium
	point rune   // WebDriver's code point, for Firefox
	text  string // the text it types
}

// named are the keys that have no character of their own.
var named = map[string]key{
	"Tab":        {"Tab", "Tab", 9, 0xE004, ""},
	"Enter":      {"Enter", "Enter", 13, 0xE006, "\r"},
	"Escape":     {"Escape", "Escape", 27, 0xE00C, ""},
	"Space":      {" ", "Space", 32, ' ', " "},
	"Backspace":  {"Backspace", "Backspace", 8, 0xE003, ""},
	"Delete":     {"Delete", "Delete", 46, 0xE017, ""},
	"ArrowLeft":  {"ArrowLeft", "ArrowLeft", 37, 0xE012, ""},
	"ArrowUp":    {"ArrowUp", "ArrowUp", 38, 0xE013, ""},
	"ArrowRight": {"ArrowRight", "ArrowRight", 39, 0xE014, ""},
	"ArrowDown":  {"ArrowDown", "ArrowDown", 40, 0xE015, ""},
	"Home":       {"Home", "Home", 36, 0xE011, ""},
	"End":        {"End", "End", 35, 0xE010, ""},
	"PageUp":     {"PageUp", "PageUp", 33, 0xE00E, ""},
	"PageDown":   {"PageDown", "PageDown", 34, 0xE00F, ""},
}

// A modifier is held while another key is pressed.
type modifier struct {
	key
	bit int // in Chromium's mask
}

var modifiers = map[string]modifier{
	"Alt":     {key{"Alt", "AltLeft", 18, 0xE00A, ""}, 1},
	"Control": {key{"Control", "ControlLeft", 17, 0xE009, ""}, 2},
	"Shift":   {key{"Shift", "ShiftLeft", 16, 0xE008, ""}, 8},
}

// A stroke is one key pressed and released, with modifiers held.
type stroke struct {
	key
	held []modifier
}

// strokeOf parses a key such as Tab, Shift+Tab or Control+a.
func strokeOf(text string) (stroke, error) {
	var s stroke
	rest := text
	for {
		before, after, more := strings.Cut(rest, "+")
		if !more || after == "" {
			break
		}
		m, ok := modifiers[before]
		if !ok {
			return s, fmt.Errorf("%q: no key is held that is called %q", text, before)
		}
		s.held, rest = append(s.held, m), after
	}
	if k, ok := named[rest]; ok {
		s.key = k
		return s, nil
	}
	if r := []rune(rest); len(r) == 1 {
		s.key = typed(r[0])
		return s, nil
	}
	return s, fmt.Errorf("no key is called %q", text)
}

// typed returns the key that types a character.
func typed(r rune) key {
	k := key{name: string(r), point: r, text: string(r)}
	switch up := unicode.ToUpper(r); {
	case r == '\n':
		return named["Enter"]
	case r == ' ':
		return named["Space"]
	case up >= 'A' && up <= 'Z':
		k.code, k.vk = "Key"+string(up), int(up)
	case r >= '0' && r <= '9':
		k.code, k.vk = "Digit"+string(r), int(r)
	}
	return k
}

func strokesOf(text string) []stroke {
	var all []stroke
	for _, r := range text {
		all = append(all, stroke{key: typed(r)})
	}
	return all
}
