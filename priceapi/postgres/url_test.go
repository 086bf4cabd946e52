package postgres

import (
	"errors"
	"strings"
	"testing"
)

// TestURLs checks that a remote server is reached only by verified TLS, and that no error
// contains a password.
func TestURLs(t *testing.T) {
	const hidden = "hidden-password"
	for url, want := range map[string]error{
		"postgres://u:" + hidden + "@127.0.0.1/db":                                         nil,
		"postgres://u:" + hidden + "@localhost:5433/db?sslmode=disable":                    nil,
		"postgres://u:" + hidden + "@[::1]/db":                                             nil,
		"postgres://u:" + hidden + "@/db?host=/run/postgresql":                             nil,
		"host=/run/postgresql user=u password=" + hidden:                                   nil,
		"postgres://u:" + hidden + "@db.example/db?sslmode=verify-full":                    nil,
		"postgres://u:" + hidden + "@db.example/db":                                        ErrPlain,
		"postgres://u:" + hidden + "@db.example/db?sslmode=disable":                        ErrPlain,
		"postgres://u:" + hidden + "@db.example/db?sslmode=require":                        ErrPlain,
		"postgres://u:" + hidden + "@127.0.0.1,db.example/db":                              ErrPlain,
		"postgres://u:" + hidden + "@127.0.0.1.example/db?sslmode=allow":                   ErrPlain,
		"postgres://u:" + hidden + "%zz@127.0.0.1/db":                                      ErrURL,
		"postgres://u:" + hidden + "@127.0.0.1:99999999/db":                                ErrURL,
		"postgres://u:" + hidden + "@127.0.0.1/db?sslmode=never":                           ErrURL,
		"host=127.0.0.1 password='" + hidden:                                               ErrURL,
		"":                                                                                 ErrURL,
		"mysql://u:" + hidden + "@127.0.0.1/db":                                            ErrURL,
		"postgres://u:" + hidden + "@127.0.0.1/db?connect_timeout=a":                       ErrURL,
		"postgres://u:" + hidden + "@db.example/db?sslmode=verify-full&sslrootcert=/none1": ErrURL,
	} {
		o, err := Options{URL: url}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		_, err = configure(o)
		if !errors.Is(err, want) || err != nil && strings.Contains(err.Error(), hidden) {
			t.Errorf("%s: %v, want %v", url, err, want)
		}
	}
	for _, days := range []int{1, 30, 367, -1} {
		if _, err := (Options{Days: days}).withDefaults(); !errors.Is(err, ErrDays) {
			t.Errorf("%d days: %v", days, err)
		}
	}
}
