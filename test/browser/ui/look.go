//go:build linux

package ui

// A Look is how a page is shown: its viewport in CSS pixels, and the user's preferences.
type Look struct {
	Width, Height int
	Dark          bool
	Still         bool // reduced motion
}

// popup is the viewport of a popup.
var popup = Look{Width: 400, Height: 600}

func (l Look) orPopup() Look {
	if l.Width == 0 {
		l.Width = popup.Width
	}
	if l.Height == 0 {
		l.Height = popup.Height
	}
	return l
}

// Themes by their names in media queries.
const (
	Light = "light"
	Dark  = "dark"
)

func (l Look) scheme() string {
	if l.Dark {
		return Dark
	}
	return Light
}

func (l Look) motion() string {
	if l.Still {
		return "reduce"
	}
	return "no-preference"
}
