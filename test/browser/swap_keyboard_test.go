//go:build browser

package browser
